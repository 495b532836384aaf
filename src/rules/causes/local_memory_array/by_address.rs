//! What the code tells of local arrays: its accesses with computed addresses.

use super::found::{BuiltTable, Found, Main, memory};
use super::home::Home;
use super::{CHOSEN_AMONG, SPILLS};
use crate::evidence::ModeledLaunch;
use crate::evidence::removal::{Removal, locations};
use crate::model::Effect;
use crate::sass::flow::slice;
use crate::sass::questions::arrays::{self, Array, is_local};
use crate::sass::questions::{made_of_data, saved_registers, tables};
use crate::sass::{Family, Listing, Marks};
use crate::term::Term;

/// From the SASS: local accesses with a computed address, and with them the array's others, which
/// are all that spill no register.
pub(super) fn by_address(launch: &ModeledLaunch) -> Option<Found> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let is_local = |index: usize| is_local(listing.sass.entries[index].family);
    let is_computed =
        |index: usize| is_local(index) && listing.sass.entries[index].computed_address;
    let sum = |pick: &dyn Fn(usize) -> bool| -> f64 {
        listing
            .entries()
            .map(|(at, _)| at)
            .filter(|&at| pick(at))
            .map(|at| listing.executed(at))
            .sum()
    };
    let (local, computed) = (sum(&is_local), sum(&is_computed));
    if local <= 0.0 {
        let (locations, removal) = (Vec::new(), Effect::default());
        return Some(Found { accesses: 0.0, locations, main: None, removal });
    }
    let fixed = local - computed;
    // Functions save registers for their callers in the same frames.
    let saved = saved_registers::saved(&listing).into_iter().map(|at| listing.executed(at)).sum();
    let spills = launch.get(SPILLS).unwrap_or(fixed).max(saved);
    // The compiler knows the index of some accesses of the array, such as those that clear it.
    let of_fixed = if fixed > 0.0 { ((fixed - spills) / fixed).clamp(0.0, 1.0) } else { 0.0 };
    let of_fixed = if computed > 0.0 { of_fixed } else { 0.0 };
    let arrays = if computed > 0.0 { arrays::find(&listing) } else { Vec::new() };
    let main = main(launch, &listing, &arrays);
    let table = main.as_ref().and_then(|main| main.table.as_ref());
    // One copy of a table is in reach of all, whatever the threads' own would take.
    let homes: Vec<Home> = arrays.iter().map(|array| Home::of(launch, &listing, array)).collect();
    let mut home_of: Vec<Option<&Home>> = vec![None; listing.sass.entries.len()];
    for (array, home) in arrays.iter().zip(&homes).filter(|_| table.is_none()) {
        array.accesses.iter().for_each(|&at| home_of[at] = Some(home));
    }
    let stays = |index: usize| home_of[index].is_some_and(|home| !home.can_move());
    let to_shared = |index: usize| home_of[index].is_some_and(Home::is_shared_alone);
    let share = |pick: &dyn Fn(usize) -> bool| {
        let picked = sum(&|at| is_computed(at) && pick(at));
        if picked > 0.0 { picked / computed } else { 0.0 }
    };
    let (staying, shared) = (share(&stays), share(&to_shared));
    for (index, _) in listing.entries() {
        let executed = listing.executed(index);
        let (goes, moves) = match index {
            _ if is_computed(index) && stays(index) => (0.0, 0.0),
            _ if is_computed(index) => (1.0, f64::from(u8::from(to_shared(index)))),
            _ if is_local(index) => (of_fixed * (1.0 - staying), of_fixed * shared),
            _ => continue,
        };
        removal.remove_but_l1(index, goes);
        // An access to shared memory is an instruction too.
        removal.add(Term::Lsu, moves * executed);
    }
    // Few elements lie in registers, which are chosen among.
    for (array, &index) in
        arrays.iter().flat_map(|array| array.accesses.iter().map(move |at| (array, at)))
    {
        let elements = arrays::elements(&listing, array, index);
        if elements > 0.0 && elements <= CHOSEN_AMONG {
            let is_load = matches!(listing.sass.entries[index].family, Family::Load(_));
            let choices = if is_load { elements - 1.0 } else { elements };
            removal.add(Term::Alu, choices * listing.executed(index));
        }
    }
    // An index that the compiler knows takes no arithmetic, nor do choices among registers take an address. What is made of
    // data, such as a comparison with it, stays otherwise.
    let beside = removal.beside(|index| is_computed(index) && !stays(index) && !to_shared(index));
    let (work, of_data) = (slice::work(&listing), made_of_data::made_of_data(&listing));
    let accesses = Marks::of(listing.sass.entries.len(), is_computed);
    let addresses = slice::addresses_only_of(&listing, &accesses);
    let goes_too = |index: usize| !of_data[index] || addresses[index];
    for (index, _) in listing.entries() {
        if beside[index] && !work[index] && goes_too(index) && !is_local(index) {
            removal.remove_but_l1(index, 1.0);
        }
    }
    // Lines whose array stays are none to change, unless all stay.
    let is_named = |at: usize| is_computed(at) && (staying >= 1.0 || !stays(at));
    let weight = |at: usize| {
        let builds = table.is_some_and(|built| built.table.stores.binary_search(&at).is_ok());
        if is_named(at) || builds { listing.executed(at) } else { 0.0 }
    };
    let locations = locations(launch, listing, weight, "accesses to local arrays");
    let accesses = computed + of_fixed * fixed;
    let mut effect = removal.effect(launch);
    let (going, moving) = (accesses * (1.0 - staying), accesses * shared);
    if going > 0.0 {
        effect.removed.extend(memory(launch, going - moving, going / local));
    }
    if let Some(home) = homes.iter().find(|home| moving > 0.0 && home.is_shared_alone()) {
        effect.least = home.least(&listing, &effect);
    }
    Some(Found { accesses, locations, main, removal: effect })
}

/// The array that most accesses with a computed address are to; `None` where no array's size is known.
fn main(launch: &ModeledLaunch, listing: &Listing, arrays: &[Array]) -> Option<Main> {
    let executed = |places: &[usize]| places.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let most = |a: &&Array, b: &&Array| executed(&a.accesses).total_cmp(&executed(&b.accesses));
    let array = arrays.iter().max_by(most)?;
    let busiest = array
        .accesses
        .iter()
        .max_by(|a, b| listing.executed(**a).total_cmp(&listing.executed(**b)))?;
    let table = tables::of(listing, array);
    let table = table.map(|table| {
        let of_store = |at: usize| {
            if table.stores.binary_search(&at).is_ok() { listing.executed(at) } else { 0.0 }
        };
        let built_at = locations(launch, *listing, of_store, "stores").into_iter().next();
        BuiltTable { stores: executed(&table.stores), built_at, table }
    });
    let in_loop = listing.sass.flow.innermost(*busiest).is_some();
    Some(Main { home: Home::of(launch, listing, array), table, in_loop })
}
