//! What commands print that diagnose nothing: rules, ladders, this machine, settings.

mod config;
mod doctor;
mod explain;
mod ladders;
mod rules;
mod written;

pub use config::{ConfigDocument, Setting};
pub use doctor::{DoctorDocument, MachineCheck, MeasuredQuantity};
pub use explain::{ExplainDocument, Number, NumberGroup, RuleExample, RuleRange, RuleRecord};
pub use ladders::{
    LadderBuffer, LadderCheckDocument, LadderRecord, LadderSize, LadderStep, LadderVariant,
    LaddersDocument, ManifestMistake, StepProgram,
};
pub use rules::{
    FigureRow, RuleFile, RuleTest, RulesCheckDocument, RulesDocument, RulesMetricsDocument,
    UserRule,
};
pub use written::WrittenDocument;
