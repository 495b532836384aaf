//! Which of a program's ranks a process is: what launchers of MPI and PyTorch say in its environment.

use serde::{Deserialize, Serialize};

/// A process's place among those that work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// Its number among all, from 0.
    pub number: u32,
    /// Its number among those of its machine, where known.
    pub local: Option<u32>,
    /// How many there are, where known.
    pub world: Option<u32>,
}

/// The variables of one launcher: rank, rank on the machine, number of ranks.
struct Launcher {
    rank: &'static str,
    local: &'static str,
    world: &'static str,
}

/// The launchers, the nearest to the program first: Slurm may start torchrun, which starts the ranks.
const LAUNCHERS: [Launcher; 5] = [
    Launcher { rank: "RANK", local: "LOCAL_RANK", world: "WORLD_SIZE" },
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        local: "OMPI_COMM_WORLD_LOCAL_RANK",
        world: "OMPI_COMM_WORLD_SIZE",
    },
    Launcher { rank: "PMIX_RANK", local: "MPI_LOCALRANKID", world: "PMI_SIZE" },
    Launcher { rank: "PMI_RANK", local: "MPI_LOCALRANKID", world: "PMI_SIZE" },
    Launcher { rank: "SLURM_PROCID", local: "SLURM_LOCALID", world: "SLURM_NTASKS" },
];

impl Rank {
    /// The rank that some variables name; `None` where none does.
    pub(crate) fn of(value: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| value(name)?.trim().parse::<u32>().ok();
        LAUNCHERS.iter().find_map(|launcher| {
            let world = number(launcher.world);
            // `RANK` is a common word; PyTorch's launchers set it with the number of ranks.
            let is_whole = launcher.rank != "RANK" || world.is_some();
            let rank = number(launcher.rank).filter(|_| is_whole)?;
            Some(Self { number: rank, local: number(launcher.local), world })
        })
    }

    /// The rank of this process.
    pub(crate) fn current() -> Option<Self> {
        Self::of(|name| std::env::var(name).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Rank> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Rank::of(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_launcher_is_known_by_its_variables() {
        let rank = |number, local, world| Some(Rank { number, local, world });
        let torch = [("RANK", "5"), ("LOCAL_RANK", "1"), ("WORLD_SIZE", "8")];
        assert_eq!(of(&torch), rank(5, Some(1), Some(8)));
        let mpi = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(of(&mpi), rank(3, None, Some(4)));
        assert_eq!(of(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]), rank(0, None, Some(2)));
        assert_eq!(of(&[("PMIX_RANK", "7")]), rank(7, None, None));
        let slurm = [("SLURM_PROCID", "1"), ("SLURM_LOCALID", "0"), ("SLURM_NTASKS", "2")];
        assert_eq!(of(&slurm), rank(1, Some(0), Some(2)));
        // Slurm started the launcher that started the rank.
        assert_eq!(of(&[&slurm[..], &torch[..]].concat()), rank(5, Some(1), Some(8)));
    }

    #[test]
    fn other_variables_name_no_rank() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("RANK", "3")]), None, "a word that anybody may use");
        assert_eq!(of(&[("PMI_RANK", "-1")]), None);
        assert_eq!(of(&[("SLURM_PROCID", "x")]), None);
    }
}
