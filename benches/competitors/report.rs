//! What `cargo bench` measured last, as tables on standard output. The data of the charts goes to
//! the folder that is given as the argument, for benches/support/chart.rb (`rake bench:core`). With
//! `short` as a second argument, only the tables of `rake bench`.

use serde_json::json;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Median nanoseconds a payload: group, then implementation, then payload size in bytes.
type Medians = BTreeMap<String, BTreeMap<String, BTreeMap<usize, f64>>>;

/// The columns of the tables, and the charts' lines.
const PATHS: [&str; 5] = ["memcpy", "unmask", "unmask_into", "word", "scalar"];
const COMPETITORS: [&str; 4] = ["ws_unmask", "tokio-websockets", "fastwebsockets", "tungstenite"];
const TEXTS: [&str; 5] = ["ascii", "chinese", "cyrillic", "emoji", "mixed json"];
const DECODERS: [&str; 3] = ["ws_unmask", "nexus-web", "sockudo-ws"];
/// What the charts draw in our color.
const OURS: [&str; 3] = ["ws_unmask", "unmask", "unmask_into"];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: report FOLDER [short]")?);
    let medians = read_medians(Path::new("../../target/criterion"))?;
    if arguments.next().as_deref() == Some("short") {
        print_table(&medians, "paths at 6", &PATHS, "memcpy")?;
        print_table(&medians, "competitors at 0 to 15", &COMPETITORS, "ws_unmask")?;
        print_table(&medians, "decoders chinese", &DECODERS, "ws_unmask")?;
    } else {
        print_all(&medians)?;
    }
    let chart = |name: &str, title: &str, group: &str, lines: &[&str]| {
        let data = chart_data(&medians, title, group, lines)?;
        Result::Ok(fs::write(folder.join(name), format!("{data:#}\n"))?)
    };
    fs::create_dir_all(&folder)?;
    let title = "Unmasking by each path, payloads 6 bytes behind a cache line";
    chart("core_paths.json", title, "paths at 6", &PATHS)?;
    let title = "Unmasking by each library, payloads at alignments 0 to 15";
    chart("core_competitors.json", title, "competitors at 0 to 15", &COMPETITORS)?;
    let title = "Decoding text that is half Chinese, in reads of 4 KiB";
    chart("core_decoders.json", title, "decoders chinese", &DECODERS)
}

/// Gigabytes a second, as benches/support/chart.rb takes them.
fn chart_data(
    medians: &Medians,
    title: &str,
    name: &str,
    lines: &[&str],
) -> Result<serde_json::Value> {
    let group = group(medians, name)?;
    let rates = |line: &str| -> BTreeMap<usize, f64> {
        group[line].iter().map(|(&size, ns)| (size, size as f64 / ns)).collect()
    };
    let data: BTreeMap<_, _> = lines.iter().map(|line| (line, rates(line))).collect();
    Ok(json!({
        "kind": "lines",
        "title": title,
        "scale": "GB/s: more is better",
        "log": true,
        "ours": OURS,
        "base": "memcpy",
        "data": data,
    }))
}

fn print_all(medians: &Medians) -> Result<()> {
    for group in ["paths at 0", "paths at 6"] {
        print_table(medians, group, &PATHS, "memcpy")?;
    }
    for group in ["competitors at 0", "competitors at 6", "competitors at 0 to 15"] {
        print_table(medians, group, &COMPETITORS, "ws_unmask")?;
    }
    let levels: Vec<&str> = group(medians, "levels at 6")?.keys().map(String::as_str).collect();
    print_table(medians, "levels at 6", &levels, "fallback")?;
    for text in TEXTS {
        let group = format!("decode {text}");
        print_table(medians, &group, &["decoder", "unmask, then look"], "unmask, then look")?;
        print_table(medians, &format!("decoders {text}"), &DECODERS, "ws_unmask")?;
    }
    print_goals(medians)
}

fn read_medians(folder: &Path) -> Result<Medians> {
    let mut medians = Medians::new();
    for path in folders(folder)?.iter().flat_map(folders).flatten().flat_map(folders).flatten() {
        let measured = path.join("new");
        let Ok(id) = read_json(&measured.join("benchmark.json")) else { continue };
        let estimates = read_json(&measured.join("estimates.json"))?;
        let text = |key: &str| id[key].as_str().ok_or("a field is missing").map(str::to_owned);
        let median = estimates["median"]["point_estimate"].as_f64().ok_or("no median")?;
        let implementations = medians.entry(text("group_id")?).or_default();
        let sizes = implementations.entry(text("function_id")?).or_default();
        let size: usize = text("value_str")?.parse()?;
        // A call may decode several payloads.
        let bytes = id["throughput"]["Bytes"].as_f64().ok_or("no throughput")?;
        sizes.insert(size, median * size as f64 / bytes);
    }
    Ok(medians)
}

fn folders(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder.as_ref()).map_err(|error| {
        format!("{}: {error}: run `rake bench:core`", folder.as_ref().display())
    })?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
}

fn read_json(path: &Path) -> Result<serde_json::Value> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

fn group<'a>(
    medians: &'a Medians,
    name: &str,
) -> Result<&'a BTreeMap<String, BTreeMap<usize, f64>>> {
    Ok(medians.get(name).ok_or_else(|| format!("no group '{name}': run `rake bench:core`"))?)
}

fn print_table(medians: &Medians, name: &str, columns: &[&str], base: &str) -> Result<()> {
    let group = group(medians, name)?;
    println!("\n### {name}: ns a payload, GB/s, and how many times the throughput of {base}\n");
    println!("| bytes | {} |", columns.join(" | "));
    println!("| --: |{}", " --: |".repeat(columns.len()));
    for (size, base) in &group[base] {
        let cells = columns.iter().map(|column| {
            let ns = group[*column][size];
            format!("{ns:.1} ns, {:.1} GB/s, {:.2}x", *size as f64 / ns, base / ns)
        });
        println!("| {} | {} |", human(*size), cells.collect::<Vec<_>>().join(" | "));
    }
    Ok(())
}

/// The worst case of each figure that the project wants to hold.
fn print_goals(medians: &Medians) -> Result<()> {
    println!("\n### What is to hold\n");
    println!("| figure | wanted | worst case, and where |\n| --- | --- | --- |");
    let row = |figure: &str, wanted: &str, cases: Vec<(f64, String)>| {
        let (worst, place) =
            cases.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
        println!("| {figure} | {wanted} | {worst:.2}x, {place} |");
    };
    let ratios = |groups: &[&str], ours: &str, theirs: &[&str], sizes: (usize, usize)| {
        let mut cases = Vec::new();
        for name in groups {
            let group = group(medians, name)?;
            for (&size, &ns) in group[ours].range(sizes.0..=sizes.1) {
                for other in theirs {
                    let place = format!("{} {name}, {other}", human(size));
                    cases.push((group[*other][&size] / ns, place));
                }
            }
        }
        Result::Ok(cases)
    };
    let paths = ["paths at 0", "paths at 6"];
    let all = (4 << 10, usize::MAX);
    row("in place against memcpy, 4 KiB on", "1.0x", ratios(&paths, "unmask", &["memcpy"], all)?);
    row("into against memcpy, 4 KiB on", "0.9x", ratios(&paths, "unmask_into", &["memcpy"], all)?);
    let mut short = Vec::new();
    for name in ["short at 0", "short at 6"] {
        let group = group(medians, name)?;
        for (&size, &ns) in group["unmask"].range(..=125) {
            let memcpy = group["memcpy"][&size];
            short.push(((memcpy * 1.5).max(memcpy + 1.5) / ns, format!("{} {name}", human(size))));
        }
    }
    row("1 to 125 B in place within 1.5 times memcpy, or 1.5 ns", "1.0x", short);
    let competitors = ["competitors at 0", "competitors at 6", "competitors at 0 to 15"];
    let any = (1, usize::MAX);
    row(
        "against every competitor",
        "0.95x",
        ratios(&competitors, "ws_unmask", &COMPETITORS[1..], any)?,
    );
    let at_16_kib = (16 << 10, 16 << 10);
    row("simd against scalar, 16 KiB", "10x", ratios(&paths, "unmask", &["scalar"], at_16_kib)?);
    row("word against scalar, 16 KiB", "3x", ratios(&paths, "word", &["scalar"], at_16_kib)?);

    let group = group(medians, "competitors at 6")?;
    let lead = group["ws_unmask"].range(16..=1024).map(|(size, ns)| {
        let fastest =
            COMPETITORS[1..].iter().map(|name| group[*name][size]).fold(f64::MAX, f64::min);
        (fastest / ns, human(*size))
    });
    let (best, place) = lead.max_by(|a, b| a.0.total_cmp(&b.0)).ok_or("no sizes")?;
    println!(
        "| lead over the fastest competitor in 16 B to 1 KiB at 6 | 1.5x | {best:.2}x (best), {place} |"
    );
    Ok(())
}

fn human(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 if bytes.is_multiple_of(1024) => format!("{} KiB", bytes >> 10),
        1024..0x10_0000 => format!("{bytes} B"),
        _ => format!("{} MiB", bytes >> 20),
    }
}
