package peers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sapl.api.interpreter.Val;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Which sandboxes a team creates: an image of the list, within the team's bounds. */
record CreatePolicies(JsonNode workload) implements Policies {
  @Override
  public String best() {
    return """
        policy "create" permit
        where
          environment.ttl_s >= 60 && images[(resource.image)] != undefined;
          var team = teams[(subject.labels.team)];
          environment.cpu <= team.cpu && environment.mem_mb <= team.mem_mb;
          environment.disk_gb <= team.disk_gb && environment.ttl_s <= team.ttl_s;
        """;
  }

  @Override
  public Map<String, Val> tables() {
    ObjectNode images = new ObjectMapper().createObjectNode();
    for (JsonNode image : workload.get("images")) {
      images.put(image.asText(), true);
    }
    return Map.of("images", Val.of(images), "teams", Val.of(workload.get("teams")));
  }

  /** One policy that denies other images, and one for each team. */
  @Override
  public List<String> written() {
    var policies = new ArrayList<String>();
    policies.add("policy \"images\" deny where !(resource.image in " + workload.get("images") + ");");
    workload.get("teams").fields().forEachRemaining(team -> policies.add(allow(team.getKey(), team.getValue())));
    return policies;
  }

  private static String allow(String team, JsonNode bounds) {
    return """
        policy "%s" permit subject.labels.team == "%s"
        where
          environment.cpu <= %d && environment.mem_mb <= %d && environment.disk_gb <= %d;
          environment.ttl_s >= 60 && environment.ttl_s <= %d;
        """
        .formatted(team, team, bounds.get("cpu").asInt(), bounds.get("mem_mb").asInt(),
            bounds.get("disk_gb").asInt(), bounds.get("ttl_s").asInt());
  }
}
