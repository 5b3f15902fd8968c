//! regorus, by its bytecode machine, which is faster than its interpreter in both forms.
use crate::workload::Workload;
use crate::Decider;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::vm::RegoVM;
use regorus::{Engine, Rc, Value};
use std::error::Error;

/// As written, each allow rule is a rule of Rego, and a list stands in one; in the best form both are
/// data, found by their keys. Requests are parsed beforehand.
pub fn load(workload: &Workload, best: bool) -> Result<Decider, Box<dyn Error>> {
    let (policy, data) = if best {
        (
            format!("{}_B.rego", workload.decision),
            workload.own("_B_data", ".json"),
        )
    } else {
        (
            workload.own("_A", ".rego"),
            workload.own("_A_data", ".json"),
        )
    };
    let policy = workload.text(&policy)?;
    let data = match workload.decision.as_str() {
        "egress" if !best => "{}".into(), // all of it is in the policy
        _ => workload.text(&data)?,
    };
    let query = format!("data.{}.allow", workload.decision);
    let mut engine = Engine::new();
    engine.add_policy("policy.rego".into(), policy)?;
    engine.add_data_json(&data)?;
    let policy = engine.compile_with_entrypoint(&Rc::from(query.as_str()))?;
    let mut machine = RegoVM::new();
    machine.load_program(Compiler::compile_from_policy(&policy, &[&query])?);
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
