package peers;

import io.sapl.api.interpreter.Val;
import java.util.List;
import java.util.Map;

/** A workload's policy as SAPL, in two forms. */
interface Policies {
  /** One policy over tables. */
  String best();

  /** What the policy over tables calls by name. */
  Map<String, Val> tables();

  /** As a person writes them; denials override. */
  List<String> written();
}
