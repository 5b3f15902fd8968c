package peers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sapl.api.interpreter.Val;
import io.sapl.api.pdp.AuthorizationSubscription;
import io.sapl.api.pdp.Decision;
import io.sapl.functions.StandardFunctionLibrary;
import io.sapl.interpreter.DefaultSAPLInterpreter;
import io.sapl.interpreter.combinators.PolicyDocumentCombiningAlgorithm;
import io.sapl.interpreter.functions.AnnotationFunctionContext;
import io.sapl.interpreter.pip.AnnotationAttributeContext;
import io.sapl.pdp.EmbeddedPolicyDecisionPoint;
import io.sapl.pdp.config.PDPConfiguration;
import io.sapl.prp.Document;
import io.sapl.prp.index.naive.NaiveImmutableParsedDocumentIndex;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Flux;

/**
 * The peer that is written in Java, SAPL: checks every answer, then measures.
 *
 * <p>usage: Peer sapl egress|create best|written FOLDER RULES
 */
public final class Peer {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] words) throws Exception {
    if (words.length != 5 || !words[0].equals("sapl") || !List.of("egress", "create").contains(words[1])
        || !List.of("best", "written").contains(words[2])) {
      System.err.println("usage: Peer sapl egress|create best|written FOLDER RULES");
      System.exit(1);
    }
    JsonNode workload = JSON.readTree(Path.of(words[3], words[1] + "_" + words[4] + ".json").toFile());
    boolean egress = words[1].equals("egress");
    var requests = new ArrayList<AuthorizationSubscription>();
    for (JsonNode request : workload.get("reqs")) {
      requests.add(egress ? egress(request) : create(request));
    }
    JsonNode expected = workload.get("expected");
    if (requests.isEmpty() || requests.size() != expected.size()) {
      throw new IllegalStateException(requests.size() + " requests and " + expected.size() + " answers");
    }
    Policies policies = egress ? new EgressPolicies(workload) : new CreatePolicies(workload);
    long begin = System.nanoTime();
    var point = words[2].equals("best")
        ? point(List.of(policies.best()), policies.tables())
        : point(policies.written(), Map.of());
    double loadMs = (System.nanoTime() - begin) / 1e6;
    IntPredicate ask = i -> point.decideOnce(requests.get(i)).block().getDecision() == Decision.PERMIT;
    int bad = 0;
    for (int i = 0; i < requests.size(); i++) {
      if (ask.test(i) != expected.get(i).asBoolean()) {
        bad++;
      }
    }
    if (bad > 0) {
      System.out.printf("{\"bad\": %d}%n", bad);
    } else {
      Measure.Cost cost = Measure.of(requests.size(), ask);
      System.out.printf(Locale.ROOT, "{\"bad\": 0, \"ns_med\": %.1f, \"ns_min\": %.1f, \"load_ms\": %.1f}%n",
          cost.median(), cost.least(), loadMs);
    }
    System.exit(0); // its schedulers would keep the process
  }

  private static EmbeddedPolicyDecisionPoint point(List<String> texts, Map<String, Val> variables) throws Exception {
    var functions = new AnnotationFunctionContext();
    functions.loadLibrary(StandardFunctionLibrary.class);
    functions.loadLibrary(TextFunctions.class);
    var attributes = new AnnotationAttributeContext();
    var interpreter = new DefaultSAPLInterpreter();
    var documents = new HashMap<String, Document>();
    for (String text : texts) {
      Document document = interpreter.parseDocument(text);
      if (document.isInvalid()) {
        throw new IllegalStateException(document.errorMessage() + "\n" + text);
      }
      documents.put(document.name(), document);
    }
    var configuration = new PDPConfiguration("peer", attributes, functions, variables,
        PolicyDocumentCombiningAlgorithm.DENY_OVERRIDES, UnaryOperator.identity(), UnaryOperator.identity(),
        new NaiveImmutableParsedDocumentIndex(documents, true));
    return new EmbeddedPolicyDecisionPoint(() -> Flux.just(configuration));
  }

  private static AuthorizationSubscription egress(JsonNode request) {
    return new AuthorizationSubscription(request.get("sandbox"), request.get("method"),
        members(request, "host", "port", "path", "suffixes"), members(request, "tod", "idle_s", "token_ttl_s"));
  }

  private static AuthorizationSubscription create(JsonNode request) {
    return new AuthorizationSubscription(request.get("sandbox"), JSON.getNodeFactory().textNode("create"),
        members(request, "image"), members(request, "cpu", "mem_mb", "disk_gb", "ttl_s"));
  }

  private static ObjectNode members(JsonNode object, String... names) {
    ObjectNode some = JSON.createObjectNode();
    for (String name : names) {
      some.set(name, object.get(name));
    }
    return some;
  }
}
