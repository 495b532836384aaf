//! State that each turn of a loop loads from global memory and stores back, although one thread alone has it.

use std::collections::BTreeMap;

use crate::evidence::kept_state::{KeptState, REGISTERS};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::{MOST_REGISTERS, REGISTER_BYTES};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::{Family, Listing, Space};
use crate::term::Term;
use crate::text::{count_of, percent};

const TO_L2: &str = "lts__t_sectors_srcunit_tex.sum";

/// The rule.
pub const RULE: Rule = Rule {
    name: "state-in-memory",
    kind: Kind::Cause,
    summary: "a loop loads from global memory what the same thread stored in the iteration before",
    explanation: "\
A recurrence carries a state from one iteration to the next: a filter's memory, a hidden state, a running average. If each iteration loads it from global \
memory, changes it, and stores it back to the same address, then each iteration waits for a load that has just been \
stored, and the store goes to L2 every time. Worse, the compiler must take it that the store may change what any other pointer \
leads to: it can't move the loads behind it ahead, so that these wait one after another. Only the thread itself reads \
the state as long as the loop has no barrier, so it can stay in a register: load it before the loop, store it after it. The compiler \
does so by itself only where no store in the loop may change it. The rule looks for \
loads and stores of a loop that have one address, or for loads of the element that the last iteration stored, where what is stored is made of \
what was loaded. The estimate takes these accesses away but for the first and the last, with the waits for them and for \
the loads of the iteration that are only issued behind them. Loads of places that stay the same through the loop, and that only a store of the state makes \
the compiler repeat, go as well.",
    examples: &[Example {
        fault: "\
for (int t = 0; t < steps; t++) {
    state[c] = decay[c] * state[c] + in[t * channels + c];
    out[t * channels + c] = state[c];
}",
        repair: "\
float s = state[c];
const float d = decay[c];
for (int t = 0; t < steps; t++) {
    s = d * s + in[t * channels + c];
    out[t * channels + c] = s;
}
state[c] = s;",
        note: "\
A register for each value of the state. Pointers that are __restrict__ let the compiler do the same, and load the next iterations' \
inputs early. A state too large for registers may fit into shared memory.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "registers of a thread, those for the state included, at most",
            value: MOST_REGISTERS,
            unit: "register",
            source: "definition: as many as an instruction can name; beyond, the state would be spilt to memory again",
        },
    ],
    needs: &[ISSUE_BUSY, REGISTERS],
    sharpened_by: &[Reads::always(&[TO_L2])],
    source_page: SourcePage::Needed,
    explains: &[
        "long-scoreboard-stalls",
        "lg-throttle",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
keep the tensor in a variable across the loop: tl.load it before, tl.store it after, and let the loop only compute with it.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let state = KeptState::of(launch)?;
    state.behind(&listing).into_iter().for_each(|at| removal.remove_latency(at, 1.0));
    let unchanged = state.unchanged(&listing);
    let KeptState { loads, stores, .. } = &state;
    loads.iter().chain(stores).chain(&unchanged).for_each(|(&at, &gone)| removal.remove(at, gone));
    let accesses: f64 = loads.keys().map(|&at| listing.executed(at)).sum();
    let mut effect = removal.effect(launch);
    if let Some(share) = to_l2(launch, &listing, &state, &unchanged).filter(|&share| share > 0.0) {
        effect.removed.extend([(Term::L2, share), (Term::L2Requests, share)]);
    }
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| if loads.contains_key(&at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "loads of the state");
    let at = place(&locations, "the loads of the state");
    let largest = state.largest(&listing)?;
    let bytes: f64 = largest.iter().map(|state| f64::from(state.bytes)).sum();
    let moves = largest.iter().all(|state| state.moves);
    let (what, how) = if moves {
        (
            "the element that the same thread stored in the iteration before",
            "Keep the last element in a register and go on from it, instead of loading it again"
                .to_owned(),
        )
    } else {
        (
            "what the same thread stored in the iteration before, or earlier in the same one",
            "Load the state before the loop, keep it in a register, and store it after the loop, unless another thread needs it meanwhile"
                .to_owned(),
        )
    };
    Some(Draft {
        message: format!(
            "A loop keeps a thread's state in global memory: each iteration loads {what} ({} at {at}, {} per thread). The \
             state would fit in {}. {}",
            count_of(accesses, "warp-wide load"),
            count_of(bytes, "byte"),
            count_of((bytes / REGISTER_BYTES).ceil(), "register"),
            costs(launch, &effect),
        ),
        evidence: vec![
            Evidence::new("warp-wide loads of the state", accesses, "inst"),
            Evidence::new("state of a thread", bytes, "byte"),
            Evidence::new(REGISTERS, launch.need(REGISTERS), "register/thread"),
        ],
        hint: format!(
            "{how} ({at}). The loop's other loads can then be issued earlier, as no store of the state stands before them. It takes {} per \
             thread.",
            count_of((bytes / REGISTER_BYTES).ceil(), "more register"),
        ),
        locations,
        effect,
    })
}

/// The share of what L1 asks of L2 that goes (0 to 1): stores go through L1, and these loads are taken to miss it as often as all loads do.
/// `None` where the counts are missing.
fn to_l2(
    launch: &ModeledLaunch,
    listing: &Listing,
    state: &KeptState,
    unchanged: &BTreeMap<usize, f64>,
) -> Option<f64> {
    let asked = launch.get(TO_L2).filter(|&all| all > 0.0)?;
    let sectors = |at: usize| listing.row(at).counters.l2_sectors_global;
    let gone = |shares: &BTreeMap<usize, f64>| -> f64 {
        shares.iter().map(|(&at, &gone)| gone * sectors(at)).sum()
    };
    let of = |family: Family| -> f64 {
        let all = listing.entries().filter(|(_, entry)| entry.family == family);
        all.map(|(at, _)| sectors(at)).sum()
    };
    let (stored, loaded) = (of(Family::Store(Space::Global)), of(Family::Load(Space::Global)));
    let missed = (asked - stored).max(0.0);
    let of_loads = (gone(&state.loads) + gone(unchanged)) / loaded.max(1.0);
    Some(((gone(&state.stores) + missed * of_loads.min(1.0)) / asked).min(1.0))
}

/// What the accesses cost: the waits for them, or the traffic, whichever is more.
fn costs(launch: &ModeledLaunch, effect: &Effect) -> String {
    let waits = effect.share_of_stall(StallReason::LongScoreboard);
    let traffic = effect.share_of(Term::L2Requests);
    let busy = launch.model.utilization(Term::L2Requests).unwrap_or(0.0);
    if traffic * busy > waits {
        format!("With their stores they are {} of the requests to L2.", percent(traffic))
    } else {
        format!(
            "{} of the time that warps wait for global memory goes to these loads and to those that are held up behind them.",
            percent(waits)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn of(registers: f64, beside: &'static str) -> Option<Draft> {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 100.0),
            ("LDG.E R4, desc[UR4][R2.64]", 1000.0), // 0x110
            ("FFMA R4, R4, R8, R9", 1000.0),
            ("STG.E desc[UR4][R2.64], R4", 1000.0),
            (beside, 1000.0),
            ("@P0 BRA 0x110", 1000.0),
            ("EXIT", 100.0),
        ];
        let metrics = [(ISSUE_BUSY, 60.0), (REGISTERS, registers)];
        check(&RULE, &sass(&metrics, &code))
    }

    #[test]
    fn a_state_is_named_where_registers_can_hold_it() {
        assert!(of(254.0, "NOP").is_some());
        assert!(of(255.0, "NOP").is_none(), "there is no room for it");
        assert!(of(32.0, "BAR.SYNC.DEFER_BLOCKING 0x0").is_none(), "others may read it");
    }

    #[test]
    fn all_but_the_first_load_and_the_last_store_go() {
        let draft = of(32.0, "NOP").unwrap();
        assert!(draft.message.contains("1,000 warp-wide loads"), "{}", draft.message);
        assert!(draft.hint.contains("before the loop"), "{}", draft.hint);
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 0.9 * 2000.0 / 5200.0).abs() < 1e-12, "{share}");
    }

    #[test]
    fn loads_that_only_the_state_makes_the_compiler_repeat_go_too() {
        let share = |beside| of(32.0, beside).unwrap().effect.share_of(Term::Issue);
        let more = share("LDG.E R9, desc[UR4][R10.64]") - share("NOP");
        assert!((more - 0.9 * 1000.0 / 5200.0).abs() < 1e-12, "{more}");
        let others = share("STG.E desc[UR4][R12.64], R9") - share("NOP");
        assert!(others.abs() < 1e-12, "no load");
    }
}
