package peers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sapl.api.interpreter.Val;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Which hosts a sandbox reaches, and how. */
record EgressPolicies(JsonNode workload) implements Policies {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A host's row, or that of a domain above it. */
  @Override
  public String best() {
    return """
        policy "egress" permit
        where
          environment.idle_s <= 1800;
          environment.token_ttl_s >= 60;
          subject.labels.env != "quarantine";
          subject.labels.risk != "high" || action in ["GET", "HEAD"];
          !text.holds(resource.path, "/.git/");
          resource.host != "169.254.169.254" && !text.ends(resource.host, ".internal");
          blocked[(resource.host)] == undefined;
          var row = exact[(resource.host)];
          row != undefined && ROW_HOLDS || resource.suffixes[?(suffix[(@)] != undefined && DOMAIN_HOLDS)] != [];
        """
        .replace("ROW_HOLDS", holds("row"))
        .replace("DOMAIN_HOLDS", holds("suffix[(@)]"));
  }

  private static String holds(String row) {
    return """
        ROW.port == resource.port && action in ROW.methods && text.starts(resource.path, ROW.path)
        && environment.tod >= ROW.start && environment.tod < ROW.end"""
        .replace("ROW", row);
  }

  @Override
  public Map<String, Val> tables() {
    ObjectNode exact = JSON.createObjectNode();
    ObjectNode suffix = JSON.createObjectNode();
    ObjectNode blocked = JSON.createObjectNode();
    for (JsonNode rule : workload.get("rules")) {
      (rule.get("wild").asBoolean() ? suffix : exact).set(rule.get("host").asText(), rule);
    }
    for (JsonNode host : workload.get("blocked")) {
      blocked.put(host.asText(), true);
    }
    return Map.of("exact", Val.of(exact), "suffix", Val.of(suffix), "blocked", Val.of(blocked));
  }

  /** One policy for each denial and each allow rule. */
  @Override
  public List<String> written() {
    var policies = new ArrayList<String>(List.of(
        "policy \"idle\" deny where environment.idle_s > 1800;",
        "policy \"token\" deny where environment.token_ttl_s < 60;",
        "policy \"quarantine\" deny subject.labels.env == \"quarantine\"",
        "policy \"risk\" deny subject.labels.risk == \"high\" where !(action in [\"GET\", \"HEAD\"]);",
        "policy \"git\" deny where resource.path =~ \".*/\\\\.git/.*\";",
        "policy \"metadata\" deny resource.host == \"169.254.169.254\"",
        "policy \"internal\" deny where resource.host =~ \".*\\\\.internal\";",
        "policy \"blocked\" deny where resource.host in " + workload.get("blocked") + ";"));
    for (JsonNode rule : workload.get("rules")) {
      policies.add(allow(rule));
    }
    return policies;
  }

  private static String allow(JsonNode rule) {
    String host = rule.get("host").asText();
    boolean wild = rule.get("wild").asBoolean();
    return """
        policy "allow %d" permit %sresource.port == %d
        where
          %saction in %s;
          resource.path =~ "%s.*";
          environment.tod >= %d && environment.tod < %d;
        """
        .formatted(rule.get("id").asInt(), wild ? "" : "resource.host == \"" + host + "\" & ",
            rule.get("port").asInt(), wild ? "resource.host =~ \".*\\\\." + pattern(host) + "\"; " : "",
            rule.get("methods"), pattern(rule.get("path").asText()), rule.get("start").asInt(),
            rule.get("end").asInt());
  }

  /** A text as a regular expression, inside a text of SAPL. */
  private static String pattern(String text) {
    return text.replace(".", "\\\\.");
  }
}
