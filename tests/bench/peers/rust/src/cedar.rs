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

/// One policy for each allow rule, or for each team. As written, conditions name hosts and images; in
/// the best form scopes do, what lists and domains hold being entities in them. Requests and entities
/// are built beforehand.
pub fn load(workload: &Workload, best: bool) -> Result<Decider, Box<dyn Error>> {
    let form = if best { "_B" } else { "_A" };
    let policies: PolicySet = workload.text(&workload.own(form, ".cedar"))?.parse()?;
    let groups = Groups::of(workload);
    let question = match workload.decision.as_str() {
        "egress" => Groups::egress,
        _ => Groups::create,
    };
    let asked = workload.requests().iter();
    let asked = asked
        .map(|request| question(&groups, request)?.build(request, &workload.decision))
        .collect::<Result<Vec<_>, _>>()?;
    let authorizer = Authorizer::new();
    Ok(Box::new(move |i| {
        let (request, entities) = &asked[i];
        authorizer
            .is_authorized(request, &policies, entities)
            .decision()
            == Decision::Allow
    }))
}

/// What a host or an image can be in.
struct Groups<'a> {
    domains: HashSet<&'a str>,
    blocked: HashSet<&'a str>,
    images: HashSet<&'a str>,
}

/// What depends on the decision.
struct Question {
    teams: HashSet<EntityUid>, // the sandbox is in
    labels: &'static [&'static str],
    resource: EntityUid,
    groups: HashSet<EntityUid>, // the resource is in
    context: &'static [&'static str],
}

impl<'a> Groups<'a> {
    fn of(workload: &'a Workload) -> Groups<'a> {
        let wild = workload
            .list("rules")
            .iter()
            .filter(|rule| rule["wild"] == true);
        let texts = |name: &str| {
            workload
                .list(name)
                .iter()
                .filter_map(Value::as_str)
                .collect()
        };
        Groups {
            domains: wild.filter_map(|rule| rule["host"].as_str()).collect(),
            blocked: texts("blocked"),
            images: texts("images"),
        }
    }

    fn egress(&self, request: &Value) -> Result<Question, Box<dyn Error>> {
        let host = text(&request["host"])?;
        let suffixes = request["suffixes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let domains = suffixes.filter(|suffix| self.domains.contains(suffix));
        let mut groups: HashSet<_> = domains
            .map(|domain| entity("Domain", domain))
            .collect::<Result<_, _>>()?;
        if self.blocked.contains(host) {
            groups.insert(entity("Blocked", "all")?);
        }
        Ok(Question {
            teams: HashSet::new(),
            labels: &["team", "env", "risk"],
            resource: entity("Host", host)?,
            groups,
            context: &[
                "host",
                "method",
                "path",
                "port",
                "tod",
                "idle_s",
                "token_ttl_s",
            ],
        })
    }

    fn create(&self, request: &Value) -> Result<Question, Box<dyn Error>> {
        let image = text(&request["image"])?;
        let mut groups = HashSet::new();
        if self.images.contains(image) {
            groups.insert(entity("Images", "approved")?);
        }
        Ok(Question {
            teams: [entity(
                "Team",
                text(&request["sandbox"]["labels"]["team"])?,
            )?]
            .into(),
            labels: &[],
            resource: entity("Image", image)?,
            groups,
            context: &["image", "cpu", "mem_mb", "disk_gb", "ttl_s"],
        })
    }
}

impl Question {
    fn build(self, request: &Value, action: &str) -> Result<(Request, Entities), Box<dyn Error>> {
        let sandbox = &request["sandbox"];
        let principal = entity("Sandbox", text(&sandbox["id"])?)?;
        let attributes = values(&sandbox["labels"], self.labels)?;
        let entities = [
            Entity::new(principal.clone(), attributes, self.teams)?,
            Entity::new_no_attrs(self.resource.clone(), self.groups),
        ];
        let context = Context::from_pairs(values(request, self.context)?)?;
        let action = entity("Action", action)?;
        let request = Request::new(principal, action, self.resource, context, None)?;
        Ok((request, Entities::from_entities(entities, None)?))
    }
}

fn entity(kind: &str, id: &str) -> Result<EntityUid, Box<dyn Error>> {
    let kind: EntityTypeName = kind.parse()?;
    Ok(EntityUid::from_type_name_and_id(kind, EntityId::new(id)))
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
        other => match other.as_i64() {
            Some(number) => Ok(RestrictedExpression::new_long(number)),
            None => Err(format!("{name} is {other}")),
        },
    };
    names
        .iter()
        .map(|&name| Ok((name.to_string(), value(name)?)))
        .collect()
}
