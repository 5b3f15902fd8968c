//! Peers that are written in Rust: checks every answer, then measures.
//!
//! usage: rust_peer cedar|regorus egress|create best|written FOLDER RULES
mod cedar;
mod measure;
mod rego;
mod workload;

use std::error::Error;
use std::time::Instant;
use workload::Workload;

/// Answers whether request `i` is allowed. What failed is not.
type Decider = Box<dyn FnMut(usize) -> bool>;

const USAGE: &str = "usage: rust_peer cedar|regorus egress|create best|written FOLDER RULES";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [engine, decision @ ("egress" | "create"), form @ ("best" | "written"), folder, rules] =
        words[..]
    else {
        return Err(USAGE.into());
    };
    let load = match engine {
        "cedar" => cedar::load,
        "regorus" => rego::load,
        _ => return Err(USAGE.into()),
    };
    let workload = Workload::read(decision, folder, rules)?;
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
