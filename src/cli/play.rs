//! `pagerdrill play`, and the menu that opens without a subcommand.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;

use super::input;
use crate::game::Mode;
use crate::incident::{self, Incident};
use crate::{report, store, tui};

/// How to play.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of a shipped incident, or the path of an incident file or its folder; the menu opens when left out.
    pub incident: Option<String>,
    /// How it is played: stage by stage with hints, as it happened, or freely without a score.
    #[arg(long, value_enum, default_value_t = ModeArg::Guided)]
    pub mode: ModeArg,
    /// A blind drill: the page of this incident, or of any, and another cause behind it, drawn by the seed.
    #[arg(long, conflicts_with = "mode")]
    pub blind: bool,
    /// Seed of the simulation's random numbers; 1 when left out, another one each time for a blind drill.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Speed of the clock at the start, 1 to 60.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub speed: u32,
    /// Size of the simulated system, 0.01 to 1; smaller is lighter on the machine and noisier.
    #[arg(long, default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,
    /// Colours; what suits the terminal when left out.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(tui::THEMES))]
    pub theme: Option<String>,
    /// What charts are drawn with; what suits the terminal when left out.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(["braille", "block", "ascii"]))]
    pub glyphs: Option<String>,
    /// Draws what moves by itself once a second, not fifteen times.
    #[arg(long)]
    pub reduced_motion: bool,
    /// Goes by lines: commands are typed, charts are sentences. For pipes, scripts and screen readers; chosen by itself
    /// where there is no terminal, or a dumb one.
    #[arg(long)]
    pub plain: bool,
}

/// How an incident is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Stage by stage, with questions and hints.
    #[default]
    Guided,
    /// Everything at once, and nobody helps.
    Live,
    /// Free play with every lever.
    Lab,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Mode {
        match mode {
            ModeArg::Guided => Mode::Guided,
            ModeArg::Live => Mode::Live,
            ModeArg::Lab => Mode::Lab,
        }
    }
}

impl Default for Args {
    fn default() -> Args {
        Args {
            incident: None,
            mode: ModeArg::default(),
            blind: false,
            seed: None,
            speed: 8,
            scale: 1.0,
            theme: None,
            glyphs: None,
            plain: false,
            reduced_motion: false,
        }
    }
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.01..=1.0).contains(&value) => Ok(value),
        _ => Err("a size between 0.01 and 1 is possible".to_owned()),
    }
}

/// What a blind drill draws from these.
fn drawn(from: &[Arc<Incident>], seed: u64) -> anyhow::Result<Arc<Incident>> {
    incident::draw(from, seed).ok_or_else(|| {
        let names: Vec<String> = input::shipped()
            .iter()
            .filter(|incident| !incident.file().blind.is_empty())
            .map(|incident| incident.file().id.clone())
            .collect();
        anyhow::anyhow!(
            "there is no other cause to draw for this incident; --blind works with {}",
            names.join(", ")
        )
    })
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut incidents = input::shipped();
    let clock = || chrono::Local::now().timestamp_millis().unsigned_abs();
    let seed = args.seed.unwrap_or_else(|| if args.blind { clock() } else { 1 });
    let asked = args.incident.as_deref().map(input::incident).transpose()?;
    let played = match (args.blind, asked) {
        (false, asked) => asked,
        (true, None) => Some(drawn(&incidents, seed)?),
        (true, Some(incident)) => Some(drawn(&[incident], seed)?),
    };
    let start = played.map(|incident| {
        let known = incidents.iter().position(|i| i.hash() == incident.hash());
        let at = known.unwrap_or_else(|| {
            incidents.insert(0, incident);
            0
        });
        (at, if args.blind { Mode::Live } else { args.mode.into() })
    });
    // Marks of a run that was left may come while the next one is kept.
    let one_by_one = Mutex::new(());
    let save = Arc::new(move |run: &tui::Kept<'_>| {
        let _one = one_by_one.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = run.session.run_file();
        file.marks = run.marks.to_vec();
        let path = store::save_run(&file, run.begun)?;
        if run.session.is_over() && !run.marks.is_empty() {
            store::Progress::load()?.add(store::Finished {
                incident: file.incident,
                blind: file.variant.is_some(),
                when: run.begun.to_owned(),
                mode: file.mode.label().to_owned(),
                seed: file.seed,
                marks: file.marks,
            })?;
        }
        Ok(path.display().to_string())
    });
    let export = Arc::new(|run: &tui::Kept<'_>| {
        let json = report::finding_json(&run.session.view());
        let path = store::save_finding(&json, &run.session.run_file(), run.begun)?;
        Ok(path.display().to_string())
    });
    tui::play(tui::Options {
        library: incidents,
        start,
        seed,
        scale: args.scale,
        speed: args.speed,
        theme: args.theme,
        glyphs: args.glyphs,
        settings: super::settings::settings()?,
        plain: args.plain,
        reduced_motion: args.reduced_motion,
        save,
        export,
    })
}
