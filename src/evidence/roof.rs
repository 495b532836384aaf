//! What the two roof rules share: the busiest unit is near what the device achieves on it.

use crate::evidence::threshold::ROOF;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::{Bound, Evidence};
use crate::model::Effect;
use crate::model::thresholds::PIPE_FULL;
use crate::term::Term;
use crate::text::{byte_rate, percent};

/// Fires where the busiest unit belongs to this kind of bound and is at the roof. Whether some other
/// finding inflates that unit's term is for [`crate::diagnose`] to say: it sees them all. The
/// effect names the term with a share of 0.
pub(crate) fn check(launch: &ModeledLaunch, bound: Bound) -> Option<Draft> {
    let (busiest, its_share) = launch.model.busiest_at_work()?;
    if busiest.bound() != bound {
        return None;
    }
    // Tuned products of floats leave a quarter of the FMA pipe's turns to the edges of their tiles.
    let fma = launch.model.utilization(Term::Fma).filter(|&share| share >= PIPE_FULL.value);
    let (term, share) = match fma {
        Some(share) if bound == Bound::Compute && 100.0 * its_share < ROOF => (Term::Fma, share),
        _ if 100.0 * its_share >= ROOF => (busiest, its_share),
        _ => return None,
    };
    let subject = if term == busiest {
        format!("The busiest unit, {},", term.title())
    } else {
        format!("The {}", term.title())
    };
    let rate = (term == Term::Dram)
        .then(|| launch.quote("dram__bytes.sum.per_second"))
        .flatten()
        .map_or_else(String::new, |rate| format!(", at {}", byte_rate(rate)));
    Some(Draft {
        message: format!(
            "{subject} works at {} of what this device achieves{rate}; at most {:.2}× is left to gain.",
            percent(share),
            1.0 / share,
        ),
        evidence: term
            .counters()
            .iter()
            .filter_map(|name| Some(Evidence::new(*name, launch.quote(name)?, "%")))
            .chain([Evidence::new("share_of_achievable", 100.0 * share, "%")])
            .collect(),
        locations: Vec::new(),
        hint: hint(term),
        effect: Effect::on(term, 0.0),
    })
}

fn hint(term: Term) -> String {
    match term {
        Term::Dram => {
            "Stop tuning this kernel: it moves its bytes as fast as the device can. Only fewer \
             bytes would help: a narrower type, fusion with the kernel that produces or consumes \
             the data, or another algorithm."
                .to_owned()
        }
        term => format!(
            "Stop tuning this kernel as it is: its busiest unit, {}, is at its limit. Only less \
             work for that unit would help: another algorithm, cheaper instructions, or another \
             unit that is still free.",
            term.title()
        ),
    }
}
