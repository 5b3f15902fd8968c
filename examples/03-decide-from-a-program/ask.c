/* Asks a policy set whether a request may leave: ask BUNDLE HOST. Exit status 0 allowed, 2 denied,
 * 1 could not ask. Build: cc ask.c -I.../compiler/embed -L.../bin -lcurfew */
#include "curfew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *bytes = NULL;
  size_t room = 0;
  *size = 0;
  for (;;) {
    if (*size == room) {
      room = room == 0 ? 65536 : room * 2;
      char *more = realloc(bytes, room);
      if (more == NULL) break;
      bytes = more;
    }
    const size_t got = fread(bytes + *size, 1, room - *size, file);
    if (got == 0) break;
    *size += got;
  }
  fclose(file);
  return bytes;
}

struct fact {
  const char *path;
  const char *value;
};

int main(int argc, char **argv) {
  if (argc != 3 || curfew_abi_version() != CURFEW_ABI_VERSION) return 1;
  size_t size = 0;
  char *bytes = read_file(argv[1], &size);
  if (bytes == NULL) return 1;

  curfew_error error = {{0}};
  curfew_options options = {0};
  options.size = sizeof options;
  options.generation = 1;
  curfew_policy *policy = NULL;
  if (curfew_policy_open(bytes, size, &options, &policy, &error) != CURFEW_OK) {
    fprintf(stderr, "%s: %s\n", argv[1], error.message);
    return 1;
  }
  free(bytes);

  curfew_request *request = NULL;
  curfew_verdict *verdict = NULL;
  if (curfew_request_new(policy, CURFEW_EGRESS, CURFEW_STAGE_REQUEST, &request, &error) != CURFEW_OK ||
      curfew_verdict_new(&verdict, &error) != CURFEW_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const struct fact facts[] = {
      {"caller.id", "user:ana"},         {"task.owner", "user:ana"},   {"task.kind", "work"},
      {"task.ticket", "T-7"},            {"sandbox.class", "work"},    {"sandbox.creator", "user:ana"},
      {"sandbox.ttl_left", "30m"},       {"sandbox.idle", "0s"},
      {"egress.scheme", "https"},   {"egress.host", argv[2]},
      {"egress.ip", "93.184.216.34"},    {"egress.method", "GET"},     {"egress.path", "/simple/"},
      {"egress.bytes", "0B"},            {"egress.total", "0B"}};
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; ++i) {
    const int32_t fact = curfew_policy_fact(policy, CURFEW_EGRESS, facts[i].path);
    if (curfew_request_set_text(request, fact, facts[i].value, strlen(facts[i].value), &error) != CURFEW_OK) {
      fprintf(stderr, "%s\n", error.message);
      return 1;
    }
  }
  curfew_request_set_integer(request, curfew_policy_fact(policy, CURFEW_EGRESS, "egress.port"), 443, NULL);
  curfew_request_set_integer(request, curfew_policy_fact(policy, CURFEW_EGRESS, "egress.requests"), 1, NULL);
  curfew_request_leave_out_the_rest(request);

  if (curfew_decide(policy, request, verdict) != CURFEW_OK) return 1;
  const int allowed = curfew_verdict_allows(verdict);
  const curfew_reason_kind kind = allowed ? CURFEW_ALLOWS : CURFEW_DENIALS;
  printf("%s", allowed ? "allow" : "deny");
  for (size_t i = 0; i < curfew_verdict_reason_count(verdict, kind); ++i) {
    curfew_reason reason;
    curfew_verdict_reason(verdict, kind, i, &reason);
    printf(" %.*s", (int)reason.id.size, reason.id.data);
  }
  printf("\n");

  curfew_verdict_free(verdict);
  curfew_request_free(request);
  curfew_policy_free(policy);
  return allowed ? 0 : 2;
}
