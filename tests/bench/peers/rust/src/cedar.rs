//! Cedar, by its own engine.
use crate::workload::Workload;
use crate::Decider;
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    PolicySet, Request, RestrictedExpression,
};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::error::Error;

/// One policy for each allow rule. As written, its condition names the host; in the best form its scope
/// does, hosts being entities in the domains above them. Requests and entities are built beforehand.
pub fn load(workload: &Workload, best: bool) -> Result<Decider, Box<dyn Error>> {
    let form = if best { "B" } else { "A" };
    let policies: PolicySet = workload
        .text(&format!("egress_{form}_{}.cedar", workload.count))?
        .parse()?;
    let hierarchy = Hierarchy::of(workload);
    let asked = workload
        .requests()
        .iter()
        .map(|request| hierarchy.ask(request));
    let asked = asked.collect::<Result<Vec<_>, _>>()?;
    let authorizer = Authorizer::new();
    Ok(Box::new(move |i| {
        let (request, entities) = &asked[i];
        authorizer
            .is_authorized(request, &policies, entities)
            .decision()
            == Decision::Allow
    }))
}

/// What a host can be in: domains that a rule names, and the list of those that are blocked.
struct Hierarchy<'a> {
    domains: HashSet<&'a str>,
    blocked: HashSet<&'a str>,
}

impl<'a> Hierarchy<'a> {
    fn of(workload: &'a Workload) -> Hierarchy<'a> {
        let wild = workload
            .list("rules")
            .iter()
            .filter(|rule| rule["wild"] == true);
        Hierarchy {
            domains: wild.filter_map(|rule| rule["host"].as_str()).collect(),
            blocked: workload
                .list("blocked")
                .iter()
                .filter_map(Value::as_str)
                .collect(),
        }
    }

    fn ask(&self, request: &Value) -> Result<(Request, Entities), Box<dyn Error>> {
        let (sandbox, host) = (&request["sandbox"], text(&request["host"])?);
        let (principal, resource) = (
            entity("Sandbox", text(&sandbox["id"])?)?,
            entity("Host", host)?,
        );
        let mut parents = HashSet::new();
        for suffix in request["suffixes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if self.domains.contains(suffix) {
                parents.insert(entity("Domain", suffix)?);
            }
        }
        if self.blocked.contains(host) {
            parents.insert(entity("Blocked", "all")?);
        }
        let attributes = values(&sandbox["labels"], &["team", "env", "risk"])?;
        let context = values(
            request,
            &[
                "host",
                "method",
                "path",
                "port",
                "tod",
                "idle_s",
                "token_ttl_s",
            ],
        )?;
        let entities = [
            Entity::new(principal.clone(), attributes, HashSet::new())?,
            Entity::new_no_attrs(resource.clone(), parents),
        ];
        let request = Request::new(
            principal,
            entity("Action", "egress")?,
            resource,
            Context::from_pairs(context)?,
            None,
        )?;
        Ok((request, Entities::from_entities(entities, None)?))
    }
}

fn entity(kind: &str, id: &str) -> Result<EntityUid, Box<dyn Error>> {
    Ok(EntityUid::from_type_name_and_id(
        kind.parse::<EntityTypeName>()?,
        EntityId::new(id),
    ))
}

fn text(value: &Value) -> Result<&str, Box<dyn Error>> {
    value.as_str().ok_or(format!("{value} is no text").into())
}

fn values(
    object: &Value,
    names: &[&str],
) -> Result<HashMap<String, RestrictedExpression>, Box<dyn Error>> {
    let value = |name: &str| match &object[name] {
        Value::String(text) => Ok(RestrictedExpression::new_string(text.clone())),
        Value::Number(number) if number.is_i64() => {
            Ok(RestrictedExpression::new_long(number.as_i64().unwrap_or(0)))
        }
        other => Err(format!("{name} is {other}")),
    };
    names
        .iter()
        .map(|&name| Ok((name.to_string(), value(name)?)))
        .collect()
}
