//! What times and counts mean, in sentences.

use super::{Accesses, Limiter, LimiterDocument, VariantTime, Verdict, profile};
use crate::plan::VariantKind;
use crate::text::{byte_rate, bytes, count, duration, percent, significant};

/// A time that grows by less than a tenth where the work doubles does not grow: too few threads were
/// launched to load the device (GTC 2010, "elapsed time doesn't change if problem size is
/// increased"; the tenth is ours).
const STEADY: f64 = 1.1;

/// Accesses that alone reach less than this share of what memory could move are limited by their
/// pattern or their number in flight and not by memory's rate; 4.29 of 4.81 TB/s is what a plain copy
/// reaches on an H200, and a tenth less than that is ours.
const NEAR_ROOF: f64 = 0.8;

/// A part that takes so much longer than the whole is no part of it: beyond the noise of times taken
/// in turn. Ours.
const NOT_A_PART: f64 = 1.03;

/// Shares of loads or stores that differ by more than this are not the same accesses. Ours.
const SAME_ACCESSES: f64 = 0.01;

/// The conclusions of a document whose verdict is drawn.
#[must_use]
pub(crate) fn conclusions(document: &LimiterDocument) -> Vec<String> {
    let mut said = Vec::new();
    match &document.verdict {
        Some(verdict) => said.push(sentence(document, verdict)),
        None => said.push(missing(document)),
    }
    said.extend(document.variants.iter().filter_map(|variant| doubt(document, variant)));
    said.extend(
        document
            .profile_unit
            .as_ref()
            .zip(document.verdict)
            .map(|(unit, verdict)| profile::sentence(unit, verdict.limiter)),
    );
    said.extend(rate(document));
    said.extend(copies(document));
    said.extend(flight(document));
    said.extend(balance(document));
    said.extend(growth(document));
    said.extend(document.variants.iter().filter_map(what_if));
    said
}

fn sentence(document: &LimiterDocument, verdict: &Verdict) -> String {
    let full = document.full.time_ns.median;
    let beyond = format!(
        "the whole kernel takes {}, {} more than the longer of its two parts (memory accesses, \
         arithmetic) and {} of their sum",
        duration(full),
        duration(verdict.exposed_ns),
        percent(full / verdict.sum_ns),
    );
    let exposed = format!(
        "{} of the arithmetic does not overlap with memory accesses",
        percent(verdict.arithmetic_exposed)
    );
    match verdict.limiter {
        Limiter::Memory => format!(
            "Memory-bound: {beyond}; {exposed}. Arithmetic adds {} in all, so look at the memory \
             accesses first.",
            duration(verdict.exposed_ns)
        ),
        Limiter::Arithmetic => format!(
            "Arithmetic-bound: {beyond}. Memory accesses and waiting for them add {} in all, so look at \
             the instructions first.",
            duration(verdict.exposed_ns)
        ),
        Limiter::Balanced => format!(
            "Balanced: memory accesses and arithmetic alone take about as long; {beyond}. Improving \
             one of the two gains no more than their difference."
        ),
        Limiter::Latency if full > verdict.sum_ns * NOT_A_PART => format!(
            "Latency: {beyond}. Neither part contains {} of that time: it is spent waiting, for \
             example at barriers between the two.",
            duration(full - verdict.sum_ns)
        ),
        Limiter::Latency => format!(
            "Latency: {beyond}. Memory accesses and arithmetic follow each other instead of \
             overlapping: more warps or blocks per SM, earlier loads, or fewer barriers between \
             the two would let them overlap."
        ),
    }
}

fn missing(document: &LimiterDocument) -> String {
    let lacks: Vec<&str> = [VariantKind::MemoryOnly, VariantKind::ArithmeticOnly]
        .into_iter()
        .filter(|kind| document.variant(*kind).is_none())
        .map(VariantKind::word)
        .collect();
    format!(
        "No verdict: the step has no {} variant; add it to the manifest under [[steps.variants]].",
        lacks.join(" and no ")
    )
}

/// Why a variant's time is to be taken with care.
fn doubt(document: &LimiterDocument, variant: &VariantTime) -> Option<String> {
    let name = &variant.name;
    if let Some(seen) = variant.accesses
        && let Some(claim) = refuted(variant.kind, &seen)
    {
        return Some(format!(
            "`{name}` is not {claim}: it executes {} loads and {} stores of global memory, the whole \
             kernel {} and {}.",
            count(seen.loads),
            count(seen.stores),
            count(seen.full_loads),
            count(seen.full_stores),
        ));
    }
    let (own, full) = (&variant.entrant, &document.full);
    if variant.kind != VariantKind::WhatIf && own.time_ns.median > full.time_ns.median * NOT_A_PART
    {
        return Some(format!(
            "`{name}` alone takes longer ({}) than the whole kernel: what it leaves out used to space its \
             accesses, or the compiler generated different code for the rest.",
            duration(own.time_ns.median)
        ));
    }
    (own.threads_per_sm() != full.threads_per_sm()).then(|| {
        format!(
            "`{name}` has {} threads resident per SM and the whole kernel {}, which also makes their times \
             differ.",
            count(f64::from(own.threads_per_sm())),
            count(f64::from(full.threads_per_sm())),
        )
    })
}

/// What a variant claims to be and is not, by its accesses.
fn refuted(kind: VariantKind, seen: &Accesses) -> Option<&'static str> {
    let (loads, stores) = (seen.full_loads, seen.full_stores);
    let (claim, loads, stores) = match kind {
        VariantKind::MemoryOnly => ("the kernel's memory accesses", loads, stores),
        VariantKind::StoreOnly => ("the kernel's stores alone", 0.0, stores),
        VariantKind::ArithmeticOnly => ("without memory accesses", 0.0, 0.0),
        VariantKind::WhatIf => return None,
    };
    let all = seen.full_loads + seen.full_stores;
    let differs = |seen: f64, wanted: f64| {
        // Where none are to be left, a few for the kernel's own bookkeeping are no matter.
        let of = if wanted > 0.0 { wanted } else { all };
        (seen - wanted).abs() > SAME_ACCESSES * of
    };
    (differs(seen.loads, loads) || differs(seen.stores, stores)).then_some(claim)
}

fn rate(document: &LimiterDocument) -> Option<String> {
    let rates = &document.throughput;
    let reachable = rates.reachable_bytes_per_s.filter(|rate| *rate > 0.0)?;
    let hardware = rates.hardware_bytes_per_s.map_or_else(String::new, |rate| {
        format!(", the traffic of DRAM {} ({})", byte_rate(rate), percent(rate / reachable))
    });
    let text = format!(
        "The inputs and outputs of the problem take {} ({} of the device's {}){hardware}.",
        byte_rate(rates.application_bytes_per_s),
        percent(rates.application_bytes_per_s / reachable),
        byte_rate(reachable),
    );
    Some(text + &alone(document, reachable).unwrap_or_default())
}

/// What a memory-bound kernel's accesses reach alone, where that is far from what memory could move:
/// the same bytes in the memory-only variant's time.
fn alone(document: &LimiterDocument, reachable: f64) -> Option<String> {
    let rates = &document.throughput;
    let memory = document.variant(VariantKind::MemoryOnly)?.entrant.time_ns.median.max(1.0);
    let own = rates.hardware_bytes_per_s.unwrap_or(rates.application_bytes_per_s);
    let rate = own * document.full.time_ns.median / memory;
    let bound = document.verdict.is_some_and(|verdict| verdict.limiter == Limiter::Memory);
    (bound && rate < NEAR_ROOF * reachable).then(|| {
        format!(
            " Its accesses alone reach {}: their pattern, or too few bytes in flight, limits them, \
             and not the rate of device memory.",
            byte_rate(rate)
        )
    })
}

fn copies(document: &LimiterDocument) -> Option<String> {
    let parts: Vec<String> = document
        .copies
        .iter()
        .map(|copy| {
            format!(
                "{} with {} bytes per thread",
                byte_rate(copy.bytes_per_s),
                copy.bytes_per_thread
            )
        })
        .collect();
    let threads = document.copies.first()?.threads_per_sm;
    Some(format!(
        "A plain copy at this occupancy, {} threads per SM, moves {}.",
        count(f64::from(threads)),
        parts.join(" and ")
    ))
}

fn flight(document: &LimiterDocument) -> Option<String> {
    let flight = document.in_flight.as_ref()?;
    Some(format!(
        "Little's law: the full rate takes {} in flight per SM ({} cycles of DRAM latency), {} for \
         each of its {} threads; at the kernel's rate {} are in flight, {} for each.",
        bytes(flight.needed_bytes_per_sm),
        count(flight.latency_cycles),
        bytes(flight.needed_per_thread()),
        count(f64::from(flight.threads_per_sm)),
        bytes(flight.achieved_bytes_per_sm),
        bytes(flight.achieved_per_thread()),
    ))
}

fn balance(document: &LimiterDocument) -> Option<String> {
    let balance = document.balance.as_ref()?;
    let (own, device) = (balance.instructions_per_byte, balance.device_instructions_per_byte);
    let side = if own > device { "instructions weigh more" } else { "bytes weigh more" };
    Some(format!(
        "The profile counts {} instructions per byte of device memory; {} would keep this device's \
         issue slots and memory equally busy: {side}.",
        significant(own, 3),
        significant(device, 3),
    ))
}

fn growth(document: &LimiterDocument) -> Option<String> {
    let growth = document.growth.as_ref()?;
    let what = format!(
        "From {0} = {1} to {2} the work grows {3}×, the time {4}×",
        growth.parameter,
        growth.from,
        growth.to,
        significant(growth.work_ratio, 3),
        significant(growth.time_ratio, 3),
    );
    Some(if growth.work_ratio > STEADY && growth.time_ratio < STEADY {
        format!("{what}: too few threads are launched to load the device.")
    } else {
        format!("{what}.")
    })
}

fn what_if(variant: &VariantTime) -> Option<String> {
    (variant.kind == VariantKind::WhatIf).then(|| {
        let faults = match variant.removes.as_slice() {
            [] => String::new(),
            faults => format!(" ({})", faults.join(", ")),
        };
        let title = if variant.title.is_empty() { &variant.name } else { &variant.title };
        let time = duration(variant.entrant.time_ns.median);
        if variant.factor < 1.0 {
            return format!("If {title}{faults}: {time}, so there is nothing to gain.");
        }
        let factor = significant(variant.factor, 3);
        format!("If {title}{faults}: {time}, at most {factor}× faster.")
    })
}
