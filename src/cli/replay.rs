//! `pagerdrill replay`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;

use super::progress::Progress;
use super::{FAILED, FINE, input, print, wrapped};
use crate::game::{self, RunFile, Session};
use crate::incident::Incident;
use crate::score::{Harm, Mended, References, harm_text, score};
use crate::store;

/// What to replay.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A saved run; `latest` for the newest one.
    run: PathBuf,
    /// The incident, when it is not a shipped one: the path of its file or folder.
    #[arg(long)]
    incident: Option<String>,
    /// Check that the run gives the same telemetry and marks as when it was saved; exit code 1 when it does not.
    #[arg(long, conflicts_with = "with")]
    verify: bool,
    /// Play it in a system in which these follow-ups of the incident were done, by their names, with the run's levers and
    /// with nobody acting.
    #[arg(long, value_name = "FOLLOW-UP", value_delimiter = ',')]
    with: Vec<String>,
}

/// Reads a saved run, `latest` being the newest among the saved ones.
pub(super) fn saved(path: &std::path::Path) -> anyhow::Result<RunFile> {
    if path.as_os_str() == "latest" && !path.exists() {
        let latest = store::latest_run().ok_or_else(|| anyhow::anyhow!("no run has been saved yet"))?;
        return Ok(latest.run);
    }
    if !path.exists() {
        let kept = store::runs_folder().map_or(String::new(), |folder| {
            format!("; `latest` names the run kept last, and all that are kept lie in {}", folder.display())
        });
        anyhow::bail!("cannot read {}: there is no such file{kept}", path.display());
    }
    store::load_run(path)
}

/// The incident of a saved run, and the run played again.
pub(super) fn again(run: &RunFile, incident: Option<&str>) -> anyhow::Result<(Arc<Incident>, Session)> {
    let incident = input::incident(incident.unwrap_or(&run.incident)).with_context(|| {
        format!("the run is of \"{}\"; --incident names its file when it is not a shipped one", run.incident)
    })?;
    let mut progress = Progress::new();
    progress.say("playing the saved run again");
    let session = game::replay(run, incident)?;
    // Of a variant, if the run is one of a variant.
    Ok((Arc::clone(session.incident()), session))
}

/// Marks of a run that was played again.
pub(super) fn references(incident: &Arc<Incident>, session: &Session) -> anyhow::Result<References> {
    let options = session.options();
    let (mut n, of) = (0, References::runs(session));
    let mut progress = Progress::new();
    let mut tell = |what: &str| {
        n += 1;
        progress.say(&format!("run {n} of {of} to compare with: {what}"));
    };
    let references = References::compute_telling(incident, options.seed, options.scale, &mut tell)?;
    Ok(references.with_own_telling(session, &mut tell).with_load(incident))
}

/// Prints the harm of a run and of nobody acting, as it is and with follow-ups switched on.
fn mended(incident: &Arc<Incident>, session: &Session, follow_ups: &[String]) -> anyhow::Result<ExitCode> {
    let mut progress = Progress::new();
    let mut tell = |done: f64| {
        progress.say(&format!("playing it again with {}: {:.0} %", follow_ups.join(", "), done * 100.0));
        true
    };
    let mended = Mended::play(session, follow_ups, &mut tell)?;
    drop(progress);
    let options = session.options();
    let references = References::compute(incident, options.seed, options.scale)?;
    let mut out = String::from("With\n");
    for what in &mended.what {
        out += &wrapped(what, "  ");
    }
    let played = Harm::of(session.played_out().series());
    for (who, harm) in [
        ("The run, as it was", &played),
        ("The run's levers, with these", &mended.you.harm),
        ("Nobody acts, as it was", &references.none),
        ("Nobody acts, with these", &mended.nobody.harm),
    ] {
        out += &format!("\n{who}\n  {}\n", harm_text(harm));
    }
    for skipped in &mended.you.skipped {
        out += &format!("\nNot pulled: {skipped}\n");
    }
    print(&out)?;
    Ok(ExitCode::from(FINE))
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = saved(&args.run)?;
    let (incident, session) = again(&file, args.incident.as_deref())?;
    if !args.with.is_empty() {
        return mended(&incident, &session, &args.with);
    }
    let mut out = String::new();
    for item in session.view().feed() {
        out += &format!("{} {}: {}\n", incident.clock(item.at), item.from, item.text);
    }
    if !args.verify {
        print(&out)?;
        return Ok(ExitCode::from(FINE));
    }
    let mut same = true;
    let mut check = |what: &str, saved: Option<String>, now: String| match saved {
        None => format!("{what}: not in the run file\n"),
        Some(saved) if saved == now => format!("{what}: the same\n"),
        Some(saved) => {
            same = false;
            format!("{what}: differs, saved {saved}, now {now}\n")
        }
    };
    let now = session.run_file();
    let mut report = check("telemetry", file.telemetry.clone(), now.telemetry.unwrap_or_default());
    let letters = |marks: &[(String, String)]| {
        marks.iter().map(|(d, l)| format!("{d} {l}")).collect::<Vec<_>>().join(", ")
    };
    if file.marks.is_empty() {
        report += "marks: none were kept with this run (it was not finished)\n";
    } else {
        let marks = score(&session, &references(&incident, &session)?).letters();
        report += &check("marks", Some(letters(&file.marks)), letters(&marks));
    }
    print(&report)?;
    Ok(ExitCode::from(if same { FINE } else { FAILED }))
}
