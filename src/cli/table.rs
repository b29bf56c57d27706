//! Text in columns.

/// Rows with their cells in columns, two spaces apart.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..columns)
        .map(|c| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect()
}

/// The same in lines of at most `room` columns, where the first row is the head: heads go on below before a column is wider
/// than its cells, and columns that have no room beside the others follow in a further table, with the first column again.
pub(super) fn fitted(rows: &[Vec<String>], room: usize) -> String {
    let total = |widths: &[usize]| widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
    let Some((head, body)) = rows.split_first().filter(|_| total(&widths(rows)) > room) else {
        return aligned(rows);
    };
    let mut heads: Vec<Vec<String>> = Vec::new();
    let cells = widths(body);
    for (column, title) in head.iter().enumerate() {
        let longest = title.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
        heads.push(broken(title, longest.max(cells.get(column).copied().unwrap_or(0))));
    }
    let high = heads.iter().map(Vec::len).max().unwrap_or(0);
    let line = |i: usize| -> Vec<String> {
        // Short titles stand right above their cells.
        heads
            .iter()
            .map(|h| (i + h.len()).checked_sub(high).map_or(String::new(), |at| h[at].clone()))
            .collect()
    };
    let rows: Vec<Vec<String>> = (0..high).map(line).chain(body.iter().cloned()).collect();
    let widths = widths(&rows);
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for column in 1..widths.len() {
        let beside = |of: &Vec<usize>| {
            let with: Vec<usize> = of.iter().chain([&column]).map(|&c| widths[c]).collect();
            total(&with) <= room
        };
        match tables.last_mut().filter(|of| beside(of)) {
            Some(of) => of.push(column),
            None => tables.push(vec![0, column]),
        }
    }
    let taken = |of: &Vec<usize>| {
        let part = |row: &Vec<String>| of.iter().filter_map(|&c| row.get(c).cloned()).collect::<Vec<_>>();
        let part: Vec<Vec<String>> = rows.iter().map(part).collect();
        // Lines of heads that only another table needed.
        let empty = part.iter().take(high).take_while(|row| row.iter().all(String::is_empty)).count();
        aligned(&part[empty..])
    };
    tables.iter().map(taken).collect::<Vec<_>>().join("\n")
}

/// Words in lines of at most so many columns.
fn broken(title: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in title.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= most) {
            Some(line) => *line += &format!(" {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_without_losing_a_cell() {
        let rows: Vec<Vec<String>> = [
            ["", "reads served, from 20:00:31", "CPU", "oldest served", "operations.served_ratio"],
            ["stampede", "0.1 %", "100 %", "30 s", "########################"],
            ["serve stale", "100 %", "100 %", "not recorded", "################________"],
        ]
        .map(|row| row.map(str::to_owned).to_vec())
        .to_vec();
        assert_eq!(fitted(&rows, 120), aligned(&rows));
        let narrow = fitted(&rows, 60);
        let wanted = [
            "             reads",
            "             served,",
            "             from             oldest",
            "             20:00:31  CPU    served",
            "stampede     0.1 %     100 %  30 s",
            "serve stale  100 %     100 %  not recorded",
            "",
            "             operations.served_ratio",
            "stampede     ########################",
            "serve stale  ################________",
        ];
        assert_eq!(narrow.lines().collect::<Vec<_>>(), wanted);
        for room in 1..100 {
            let text = fitted(&rows, room);
            let cells = rows.iter().skip(1).flatten().all(|cell| text.contains(cell.as_str()));
            assert!(cells, "{room}: {text}");
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= room.max(11 + 2 + 24), "{room}: {text}");
        }
    }
}
