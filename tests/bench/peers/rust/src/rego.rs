//! regorus, by its bytecode machine, which is faster than its interpreter in both forms.
use crate::workload::Workload;
use crate::Decider;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::vm::RegoVM;
use regorus::{Engine, Rc, Value};
use std::error::Error;

const QUERY: &str = "data.egress.allow";

/// As written, each allow rule is a rule of Rego; in the best form they are data, found by host.
/// Requests are parsed beforehand.
pub fn load(workload: &Workload, best: bool) -> Result<Decider, Box<dyn Error>> {
    let count = &workload.count;
    let (policy, data) = if best {
        (
            workload.text("egress_B.rego")?,
            workload.text(&format!("egress_B_data_{count}.json"))?,
        )
    } else {
        (
            workload.text(&format!("egress_A_{count}.rego"))?,
            "{}".into(),
        )
    };
    let mut engine = Engine::new();
    engine.add_policy("egress.rego".into(), policy)?;
    engine.add_data_json(&data)?;
    let policy = engine.compile_with_entrypoint(&Rc::from(QUERY))?;
    let mut machine = RegoVM::new();
    machine.load_program(Compiler::compile_from_policy(&policy, &[QUERY])?);
    machine.set_data(Value::from_json_str(&data)?)?;
    let parsed = workload
        .requests()
        .iter()
        .map(|request| Value::from_json_str(&request.to_string()));
    let inputs = parsed.collect::<Result<Vec<_>, _>>()?;
    let yes = Value::from(true);
    Ok(Box::new(move |i| {
        machine.set_input(inputs[i].clone());
        machine.execute().is_ok_and(|answer| answer == yes)
    }))
}
