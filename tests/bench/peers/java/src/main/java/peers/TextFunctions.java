package peers;

import io.sapl.api.functions.Function;
import io.sapl.api.functions.FunctionLibrary;
import io.sapl.api.interpreter.Val;

/** Tests of text that the base library lacks: without them a prefix is a regular expression. */
@FunctionLibrary(name = "text", description = "tests of text")
public final class TextFunctions {
  @Function(docs = "whether a text starts with another")
  public static Val starts(Val text, Val prefix) {
    return Val.of(text.getText().startsWith(prefix.getText()));
  }

  @Function(docs = "whether a text ends with another")
  public static Val ends(Val text, Val suffix) {
    return Val.of(text.getText().endsWith(suffix.getText()));
  }

  @Function(docs = "whether a text holds another")
  public static Val holds(Val text, Val part) {
    return Val.of(text.getText().contains(part.getText()));
  }

  private TextFunctions() {}
}
