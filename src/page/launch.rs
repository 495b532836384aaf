//! One launch on the page: its findings, its charts, its code.

use maud::{Markup, html};

use super::charts::{memory, occupancy, resources, roofline, schedulers, stalls};
use super::places::Places;
use super::{Figure, Page, Subject, findings, gallery, source};
use crate::document::LaunchReport;
use crate::frame::Launch;
use crate::kernel_name;
use crate::report::words::number::shape;
use crate::text::{duration, percent};

/// Launches shown in full, those with most time.
const MOST: usize = 12;
/// Instructions on the page, over all launches.
const INSTRUCTIONS: usize = 8000;
/// Columns of a kernel's name in a heading.
const NAME: usize = 60;

/// A launch that is shown in full.
pub(super) struct Shown<'a> {
    /// Its place on the page: begins the names of its parts.
    pub id: String,
    subject: &'a Subject,
    report: &'a LaunchReport,
    launch: Option<&'a Launch>,
    /// True for the launch that the page opens with.
    is_main: bool,
}

/// The launches to show, in the order of the profiles.
pub(super) fn all<'a>(page: &Page<'a>) -> Vec<Shown<'a>> {
    let mut all = Vec::new();
    for (place, subject) in page.subjects.iter().enumerate() {
        let main = subject.main();
        for (at, report) in subject.document.launches.iter().enumerate() {
            let is_main = place == 0 && main == Some(at);
            let launch = subject.launches.get(at).and_then(Option::as_ref);
            all.push(Shown { id: format!("l{}", all.len()), subject, report, launch, is_main });
        }
    }
    // Of many those that matter: main launches, then by their time.
    if all.len() > MOST {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&all[a], &all[b]);
            b.is_main.cmp(&a.is_main).then(b.report.time_share.total_cmp(&a.report.time_share))
        });
        let kept: std::collections::BTreeSet<usize> = order.into_iter().take(MOST).collect();
        let mut at = 0;
        all.retain(|_| {
            at += 1;
            kept.contains(&(at - 1))
        });
    }
    all
}

impl<'a> Shown<'a> {
    /// A short name for columns: the step, or the kernel.
    pub(super) fn column(&self) -> String {
        match &self.subject.document.step {
            Some(step) if self.subject.document.launches.len() == 1 => step.name.clone(),
            Some(step) => format!("{} {}", step.name, kernel_name::short(&self.report.kernel, 20)),
            None => kernel_name::short(&self.report.kernel, 28),
        }
    }

    /// Its metrics.
    pub(super) fn metrics(&self) -> Option<&'a super::metrics::Metrics> {
        self.subject.metrics(self.launch?)
    }

    /// True where the page has its lines or instructions.
    pub(super) fn has_code(&self) -> bool {
        self.launch.is_some_and(|launch| !launch.lines.is_empty() || launch.listing().is_some())
    }

    /// The heading: the step before the kernel.
    pub(super) fn title(&self) -> String {
        let kernel = kernel_name::short(&self.report.kernel, NAME);
        match &self.subject.document.step {
            Some(step) => format!("{}: {kernel}", step.name),
            None => kernel,
        }
    }

    /// Its charts.
    pub(super) fn figures(&self, page: &Page<'_>) -> Vec<Figure> {
        let id = &self.id;
        let mut figures = Vec::new();
        let Some(launch) = self.launch else {
            figures.extend(resources::figure(id, self.report));
            return figures;
        };
        let name = self.column();
        let mut stacks = vec![(name.as_str(), launch)];
        let base = page.baseline.and_then(|base| {
            let alike = base
                .document
                .launches
                .iter()
                .position(|other| kernel_name::same(&other.kernel, &self.report.kernel));
            let launch = base.launches.get(alike.or_else(|| base.main())?)?.as_ref()?;
            Some((base.short(), launch))
        });
        stacks.extend(base);
        let alone = [(name.as_str(), vec![launch])];
        figures.extend(roofline::figure(id, &alone));
        figures.extend(resources::figure(id, self.report));
        figures.extend(memory::figure(id, launch));
        figures.extend(stalls::figure(id, &stacks));
        figures.extend(occupancy::figure(id, launch));
        figures.extend(schedulers::figure(id, launch));
        figures
    }

    /// The whole section.
    pub(super) fn view(&self, page: &Page<'_>, of: usize) -> Markup {
        let report = self.report;
        let time = report.duration_ns.map(duration).unwrap_or_default();
        let facts = [
            Some(shape(report)),
            Some(format!("{time} under the profiler")).filter(|_| !time.is_empty()),
            Some(format!("{} of the time", percent(report.time_share)))
                .filter(|_| self.subject.document.launches.len() > 1),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let places = self.launch.map(Places::of);
        let code = self.launch.and_then(|launch| {
            source::view(&self.id, launch, report, &self.subject.sources, INSTRUCTIONS / of.max(1))
        });
        html! {
            details.launch id=(self.id) open[of == 1 || self.is_main] data-kernel=(report.kernel) data-time=[report.duration_ns] {
                summary { h2 { (self.title()) } span { (facts.join(" · ")) } }
                p.kernel { code { (report.kernel) } }
                @if !report.bottleneck.is_empty() { p.lead { (report.bottleneck) } }
                (findings::view(&self.id, report, places.as_ref()))
                (gallery(&self.figures(page)))
                @if let Some(code) = code { (code) }
            }
        }
    }
}
