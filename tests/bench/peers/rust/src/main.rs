//! Peers that are written in Rust, on the egress workload: checks every answer, then measures.
//!
//! usage: rust_peer cedar|regorus best|written FOLDER RULES
mod cedar;
mod measure;
mod rego;
mod workload;

use std::error::Error;
use std::time::Instant;
use workload::Workload;

/// Answers whether request `i` is allowed. What failed is not.
type Decider = Box<dyn FnMut(usize) -> bool>;

/// Makes a peer ready, in its best form or else as written.
type Load = fn(&Workload, bool) -> Result<Decider, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (load, form, folder, count): (Load, _, _, _) = match words[..] {
        ["cedar", form @ ("best" | "written"), folder, count] => (cedar::load, form, folder, count),
        ["regorus", form @ ("best" | "written"), folder, count] => {
            (rego::load, form, folder, count)
        }
        _ => return Err("usage: rust_peer cedar|regorus best|written FOLDER RULES".into()),
    };
    let workload = Workload::read(folder, count)?;
    let begin = Instant::now();
    let mut ask = load(&workload, form == "best")?;
    let load_ms = begin.elapsed().as_secs_f64() * 1000.0;
    let bad = workload
        .expected()?
        .into_iter()
        .enumerate()
        .filter(|&(i, allowed)| ask(i) != allowed)
        .count();
    if bad > 0 {
        println!("{{\"bad\": {bad}}}");
        return Ok(());
    }
    let (median, least) = measure::measure(workload.requests().len(), ask);
    println!("{{\"bad\": 0, \"ns_med\": {median:.1}, \"ns_min\": {least:.1}, \"load_ms\": {load_ms:.1}}}");
    Ok(())
}
