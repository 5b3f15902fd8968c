use serde_json::Value;
use std::error::Error;
use std::path::PathBuf;

/// What the generator wrote for one decision and one number of rules.
pub struct Workload {
    folder: PathBuf,
    pub decision: String,
    rules: String,
    document: Value,
}

impl Workload {
    pub fn read(decision: &str, folder: &str, rules: &str) -> Result<Workload, Box<dyn Error>> {
        let mut workload = Workload {
            folder: folder.into(),
            decision: decision.into(),
            rules: rules.into(),
            document: Value::Null,
        };
        workload.document = serde_json::from_str(&workload.text(&workload.own("", ".json"))?)?;
        match workload.requests().len() {
            0 => Err("no requests".into()),
            asked if asked != workload.expected()?.len() => {
                Err("requests and answers differ in number".into())
            }
            _ => Ok(workload),
        }
    }

    /// The name of a file for this decision and number of rules: egress_A_100.cedar.
    pub fn own(&self, kind: &str, suffix: &str) -> String {
        format!("{}{kind}_{}{suffix}", self.decision, self.rules)
    }

    /// A file of the workload.
    pub fn text(&self, name: &str) -> Result<String, Box<dyn Error>> {
        Ok(std::fs::read_to_string(self.folder.join(name))?)
    }

    pub fn requests(&self) -> &[Value] {
        self.list("reqs")
    }

    pub fn expected(&self) -> Result<Vec<bool>, Box<dyn Error>> {
        self.list("expected")
            .iter()
            .map(|answer| answer.as_bool().ok_or("an answer is no boolean".into()))
            .collect()
    }

    pub fn list(&self, name: &str) -> &[Value] {
        self.document[name].as_array().map_or(&[], Vec::as_slice)
    }
}
