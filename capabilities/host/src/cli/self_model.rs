//! `self-model`: what somebody can do here and now, and each change of it.

use capability_core::self_model::{Ability, Item, SelfModel, SelfModelChange};
use capability_core::session::{Mode, Origin, SlotPath, Subject};
use clap::{Args, ValueEnum};

use super::arguments::ModeArg;
use super::commands::document;
use super::output::{BAD, GOOD, NAME, Output, WARN, styled};
use crate::connection::Connection;
use crate::display::text::written_out;
use crate::protocol::{Eyes, Fault, PolicyQuestion, Request};

/// Whose eyes something is seen with.
#[derive(Debug, Args)]
pub struct EyesArgs {
    /// Who [default: the local subject]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<Subject>,
    /// In which slot of that subject's agent [default: in none]
    #[arg(long, value_name = "SLOT", requires = "subject")]
    pub slot: Option<SlotPath>,
    /// In which mode
    #[arg(long, value_name = "MODE", default_value = "live")]
    pub mode: ModeArg,
    /// From where
    #[arg(long, value_name = "ORIGIN", default_value = "terminal")]
    pub origin: OriginArg,
}

impl EyesArgs {
    /// As a request says it.
    pub fn eyes(&self) -> Eyes {
        let subject = self.subject.clone().unwrap_or_else(Subject::local);
        Eyes { subject, slot: self.slot.clone(), mode: Mode::from(self.mode), origin: self.origin.into() }
    }
}

/// The origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OriginArg {
    /// A person at a command line
    Terminal,
    /// A person at a page
    Ui,
    /// A model's proposal
    Model,
    /// A schedule that came due
    Schedule,
    /// A message on a channel
    Channel,
}

impl From<OriginArg> for Origin {
    fn from(origin: OriginArg) -> Self {
        match origin {
            OriginArg::Terminal => Self::Terminal,
            OriginArg::Ui => Self::Ui,
            OriginArg::Model => Self::Model,
            OriginArg::Schedule => Self::Schedule,
            OriginArg::Channel => Self::Channel,
        }
    }
}

/// `self-model`.
#[derive(Debug, Args)]
pub struct SelfModelArgs {
    /// Whose eyes
    #[command(flatten)]
    pub eyes: EyesArgs,
    /// Go on with each change from now on, until interrupted; with `--json` one document a line
    #[arg(short, long)]
    pub follow: bool,
}

/// Shows it, and with `--follow` each change of it.
pub async fn self_model(connection: &Connection<'_>, asked: &SelfModelArgs, output: Output) -> Result<u8, Fault> {
    let eyes = asked.eyes.eyes();
    let ask = |seen| Request::Policy(PolicyQuestion::SelfModel { eyes: eyes.clone(), seen });
    let mut model: SelfModel = document(connection.ask(&ask(None)).await?)?;
    if !asked.follow {
        output.print(&model, shown);
        return Ok(0);
    }
    let mut read = output.lines(core::slice::from_ref(&model), |models| models.iter().map(shown).collect());
    while read {
        let next: Option<SelfModel> = document(connection.ask(&ask(Some(Box::new(model.clone())))).await?)?;
        let Some(next) = next else { continue };
        let change = next.change_since(&model);
        read = output.lines(core::slice::from_ref(&change), |changes| changes.iter().map(changed).collect());
        model = next;
    }
    Ok(0)
}

fn shown(model: &SelfModel) -> String {
    let mode = model.mode.as_str();
    let mut text = format!("{} ({mode}, {}) at {}\n", model.subject, model.origin.as_str(), model.at);
    if let Some(until) = model.until {
        text += &format!("until {until}, when the next hours of a rule begin or end\n");
    }
    text.push('\n');
    model.capabilities.iter().for_each(|item| text += &line(item));
    text
}

/// The ability, and why for everything but what can simply be done.
fn line(item: &Item) -> String {
    let style = match item.ability {
        Ability::Can => GOOD,
        Ability::Asks | Ability::Depends => WARN,
        Ability::Forbidden | Ability::NotDecided => BAD,
    };
    let ability = styled(style, &format!("{:<10}", item.ability.as_str()));
    let name = styled(NAME, &format!("{}@{}", item.capability, item.version));
    let mut text = format!("{ability} {name}\n");
    if item.ability == Ability::Can {
        return text;
    }
    for end in &item.ends {
        let rules: Vec<_> = end.rules.iter().map(ToString::to_string).collect();
        let by = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
        text += &format!("  {:<9} {}{}\n", end.verdict.as_str(), end.reason, written_out(&by));
        for reason in end.rules.iter().filter_map(|rule| rule.reason.as_ref()) {
            text += &format!("            because {}\n", written_out(reason));
        }
    }
    text
}

fn changed(change: &SelfModelChange) -> String {
    let mut text = format!("\n{}: something is otherwise\n", change.at);
    change.appeared.iter().for_each(|item| text += &format!("new        {}", line(item)));
    change.vanished.iter().for_each(|name| text += &format!("gone       {name}\n"));
    for one in &change.changed {
        text += &format!("was {}: {}", one.before.ability.as_str(), line(&one.after));
    }
    text
}
