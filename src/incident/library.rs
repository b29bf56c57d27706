//! The incidents that are inside the program.

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "incidents/"]
struct Embedded;

/// A shipped incident, not yet loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Name of its folder, which is what the command line calls it.
    pub id: String,
    /// The text of its file.
    pub text: String,
}

/// All shipped incidents, by id.
pub fn shipped() -> Vec<Shipped> {
    let mut ids: Vec<String> = Embedded::iter()
        .filter_map(|path| path.strip_suffix("/incident.ron").map(str::to_owned))
        .filter(|id| !id.contains('/'))
        .collect();
    ids.sort();
    ids.iter().filter_map(|id| find(id)).collect()
}

/// A shipped incident by its id.
pub fn find(id: &str) -> Option<Shipped> {
    let file = Embedded::get(&format!("{id}/incident.ron"))?;
    Some(Shipped { id: id.to_owned(), text: String::from_utf8_lossy(&file.data).into_owned() })
}
