// curfew.h: decisions of a Curfew policy set, for programs in any language (ABI 1).
//
// A policy is opened from a bundle (`curfew compile policies/ -o set.bundle`) and is then
// immutable: any number of threads may decide by it at once. A request and a verdict are of one
// thread at a time and meant to be used again and again; a decision allocates nothing and takes no
// lock.
//
// What is not set in a request is unknown, and an unknown fact denies wherever it matters. There is
// no call whose failure allows: curfew_verdict_allows answers 0 until a decision has said
// otherwise.
//
// A program whose policy changes while it runs opens a curfew_live, and each of its threads holds,
// for each decision, the policy that is in force then. A reload makes none of them wait.
//
// Functions that can fail return a status and, where `error` is not NULL, say what and what to do
// in one line. No C++ exception leaves this library, and arguments that are NULL where that is not
// allowed are CURFEW_INVALID_ARGUMENT.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CURFEW_ABI_VERSION 1

#if defined(__GNUC__)
#define CURFEW_API __attribute__((visibility("default")))
#else
#define CURFEW_API
#endif

/* The ABI of the library that was loaded: a program that was built for another does not go on. */
CURFEW_API uint32_t curfew_abi_version(void);
/* Of Curfew, as in "0.1.0". */
CURFEW_API const char* curfew_version(void);

typedef enum curfew_status {
  CURFEW_OK = 0,
  CURFEW_INVALID_ARGUMENT = 1, /* a mistake of the calling program */
  CURFEW_INVALID_VALUE = 2,    /* a value that its fact cannot have; the request is as before */
  CURFEW_MALFORMED = 3,        /* bytes that are no bundle, or of another version */
  CURFEW_TAMPERED = 4,         /* a digest or a signature does not hold */
  CURFEW_DENIED = 5,           /* nobody who is trusted has signed it */
  CURFEW_TOO_LARGE = 6,
  CURFEW_UNSUPPORTED = 7, /* this machine has no native code, and it was asked for */
  CURFEW_OUT_OF_MEMORY = 8,
  CURFEW_FAULT = 9 /* a defect of this library */
} curfew_status;

typedef struct curfew_error {
  char message[512]; /* ends in a zero byte, and is cut where it is longer */
} curfew_error;

/* Bytes of a text that somebody else owns; not ended by a zero byte. */
typedef struct curfew_text {
  const char* data;
  size_t size;
} curfew_text;

typedef struct curfew_policy curfew_policy;
typedef struct curfew_request curfew_request;
typedef struct curfew_verdict curfew_verdict;

/* ---- Policies ----------------------------------------------------------------------------------
 */

typedef enum curfew_engine {
  CURFEW_ENGINE_AUTO = 0, /* native code, or the interpreter where there is none */
  CURFEW_ENGINE_NATIVE = 1,
  CURFEW_ENGINE_INTERPRETER = 2
} curfew_engine;

typedef struct curfew_options {
  size_t size; /* sizeof(curfew_options): later versions add fields behind */
  /* Ed25519 keys, 32 bytes each. Where there are some, only a bundle that one of them signed is
   * opened; where there are none, any. */
  const uint8_t* trusted_keys;
  size_t trusted_key_count;
  uint64_t generation; /* told by every verdict */
  curfew_engine engine;
  /* Path of libcurfew_jit.so; NULL is the one beside this library. */
  const char* jit_library;
} curfew_options;

/* A bundle's bytes, which can be freed afterwards. `options` may be NULL. */
CURFEW_API curfew_status curfew_policy_open(const void* bundle, size_t size,
                                            const curfew_options* options, curfew_policy** policy,
                                            curfew_error* error);
/* Its verdicts are not looked into any more. A request keeps what it needs. NULL is nothing. */
CURFEW_API void curfew_policy_free(curfew_policy* policy);

/* "sha256:…" of the policy set, "native" or "interpreter", and why there is no native code (""
 * where there is, or none was wanted). They live as long as the policy. */
CURFEW_API const char* curfew_policy_digest(const curfew_policy* policy);
CURFEW_API const char* curfew_policy_engine(const curfew_policy* policy);
CURFEW_API const char* curfew_policy_why_not_native(const curfew_policy* policy);

/* ---- Policies that are reloaded ----------------------------------------------------------------
 *
 *   curfew_reader *reader = ...;                 // one for each thread, once
 *   for (;;) {                                   // each decision, or some few of them
 *     const curfew_policy *policy = curfew_reader_hold(reader);
 *     if (policy != mine) { ... }                // another set: make the requests of it anew
 *     curfew_decide(policy, request, verdict);   // and read the verdict
 *     curfew_reader_release(reader);
 *   }
 *
 * A request is of one policy, since the facts that a set declares have their numbers in it. After a
 * reload the policy that is held is another one, by which an old request is not decided
 * (CURFEW_INVALID_ARGUMENT): the caller makes its requests of the new one. A request keeps its
 * policy in memory, so that no other can be taken for it; its owner frees it when it has made the
 * new one.
 */

typedef struct curfew_live curfew_live;
typedef struct curfew_reader curfew_reader;

/* The bundle's policy is in force when this returns. With CURFEW_ENGINE_AUTO it is interpreted at
 * first, here and after each reload, and compiled by a thread of its own that runs when the machine
 * has nothing else to do; with CURFEW_ENGINE_NATIVE it is compiled before it is in force.
 * `options` is kept for what is reloaded. */
CURFEW_API curfew_status curfew_live_open(const void* bundle, size_t size,
                                          const curfew_options* options, curfew_live** live,
                                          curfew_error* error);
/* From any thread. `generation` is higher than the one in force. After any other status than
 * CURFEW_OK the old policy is in force as before. */
CURFEW_API curfew_status curfew_live_reload(curfew_live* live, const void* bundle, size_t size,
                                            uint64_t generation, curfew_error* error);
/* Nobody reloads any more. What readers hold stays until they are freed. NULL is nothing. */
CURFEW_API void curfew_live_free(curfew_live* live);

/* The generation in force, and how many older ones are kept for a reader that holds them still, or
 * are about to be freed. */
CURFEW_API uint64_t curfew_live_generation(const curfew_live* live);
CURFEW_API size_t curfew_live_waiting(const curfew_live* live);
/* Waits until what is in force is compiled, or cannot be: 1; or for so long: 0. */
CURFEW_API int curfew_live_settle(const curfew_live* live, uint32_t milliseconds_at_most);

/* Of one thread. */
CURFEW_API curfew_status curfew_reader_new(curfew_live* live, curfew_reader** reader,
                                           curfew_error* error);
CURFEW_API void curfew_reader_free(curfew_reader* reader);
/* The policy in force, which is there until the release, with the texts of verdicts by it: no lock,
 * no wait, nothing allocated. Never freed by the caller. NULL where the reader holds one already.
 */
CURFEW_API const curfew_policy* curfew_reader_hold(curfew_reader* reader);
CURFEW_API void curfew_reader_release(curfew_reader* reader);

/* ---- Requests ----------------------------------------------------------------------------------
 */

typedef enum curfew_action {
  CURFEW_CREATE = 0,
  CURFEW_RESUME = 1,
  CURFEW_EXEC = 2,
  CURFEW_EGRESS = 3,
  CURFEW_EXPOSE = 4,
  CURFEW_SNAPSHOT = 5,
  CURFEW_IMPORT = 6,
  CURFEW_EXPORT = 7,
  CURFEW_EXTEND = 8,
  CURFEW_OBSERVE = 9
} curfew_action;

/* Only egress has stages; every other action is asked at CURFEW_STAGE_REQUEST. */
typedef enum curfew_stage {
  CURFEW_STAGE_NAME = 0,
  CURFEW_STAGE_ADDRESS = 1,
  CURFEW_STAGE_REQUEST = 2
} curfew_stage;

/* The number of a fact by its path, as in "egress.host" or "task.ticket" of the set's own
 * attributes; -1 where the action has none of that name. The same for every request of the policy
 * and action: look it up once. */
CURFEW_API int32_t curfew_policy_fact(const curfew_policy* policy, curfew_action action,
                                      const char* path);

/* A request of which nothing is known. */
CURFEW_API curfew_status curfew_request_new(const curfew_policy* policy, curfew_action action,
                                            curfew_stage stage, curfew_request** request,
                                            curfew_error* error);
CURFEW_API void curfew_request_free(curfew_request* request);
/* Makes it new again; what it held is freed. */
CURFEW_API void curfew_request_clear(curfew_request* request);

/* The whole document that `curfew eval --request` reads, strictly; facts of the runtime may be in
 * it. */
CURFEW_API curfew_status curfew_request_read(const curfew_policy* policy, const char* json,
                                             size_t size, curfew_request** request,
                                             curfew_error* error);

/* The value of a fact in the spelling of request documents ("2h", "1GiB", "user:ana",
 * "sha256:…", a word of an enum). It is checked, brought to its one form, and copied. */
CURFEW_API curfew_status curfew_request_set_text(curfew_request* request, int32_t fact,
                                                 const char* data, size_t size,
                                                 curfew_error* error);
/* A number: of a bool 0 or 1, of an int itself, of a duration milliseconds, of a size bytes, of a
 * time milliseconds since 1970, of an enum the place of its word. */
CURFEW_API curfew_status curfew_request_set_integer(curfew_request* request, int32_t fact,
                                                    int64_t value, curfew_error* error);
/* The elements of a set or a list, spelled as in request documents. */
CURFEW_API curfew_status curfew_request_set_items(curfew_request* request, int32_t fact,
                                                  const curfew_text* items, size_t count,
                                                  curfew_error* error);
/* Known not to be there; where the fact cannot be absent, that denies. */
CURFEW_API curfew_status curfew_request_set_absent(curfew_request* request, int32_t fact,
                                                   curfew_error* error);
CURFEW_API curfew_status curfew_request_set_unknown(curfew_request* request, int32_t fact,
                                                    curfew_error* error);
/* Every wish and every optional fact that is unknown so far is absent. */
CURFEW_API void curfew_request_leave_out_the_rest(curfew_request* request);
/* `now`, and what follows from it. */
CURFEW_API void curfew_request_set_now(curfew_request* request, int64_t milliseconds_since_1970);

/* For a request that is asked again and again for one sandbox: looks once at the facts that stay as
 * they are for as long as the sandbox lives (those of its task, its class, its image), which are to
 * be set before. Decisions are the same, and quicker; setting one of these facts again undoes it,
 * and so does curfew_request_clear. */
CURFEW_API curfew_status curfew_request_prepare(curfew_request* request, curfew_error* error);

/* ---- Verdicts ----------------------------------------------------------------------------------
 */

CURFEW_API curfew_status curfew_verdict_new(curfew_verdict** verdict, curfew_error* error);
CURFEW_API void curfew_verdict_free(curfew_verdict* verdict);

/* The request must be one of this policy. After any other status than CURFEW_OK the verdict denies,
 * for no reason that a rule has. */
CURFEW_API curfew_status curfew_decide(const curfew_policy* policy, const curfew_request* request,
                                       curfew_verdict* verdict);
/* The same for `count` requests, each with its verdict; the first status that is not CURFEW_OK. All
 * are decided. */
CURFEW_API curfew_status curfew_decide_many(const curfew_policy* policy,
                                            const curfew_request* const* requests,
                                            curfew_verdict* const* verdicts, size_t count);

/* 1 or 0. */
CURFEW_API int curfew_verdict_allows(const curfew_verdict* verdict);
/* 1 where every denial rests on a fact that is not known, so that knowing it could turn the
 * answer. */
CURFEW_API int curfew_verdict_is_undecided(const curfew_verdict* verdict);
/* The path of one such fact; empty where the answer is decided. */
CURFEW_API curfew_text curfew_verdict_missing_fact(const curfew_verdict* verdict);
CURFEW_API uint64_t curfew_verdict_generation(const curfew_verdict* verdict);
/* The class that was selected, or that the sandbox has; empty where there is none. */
CURFEW_API curfew_text curfew_verdict_class(const curfew_verdict* verdict);

typedef enum curfew_reason_kind {
  CURFEW_DENIALS = 0, /* every one that holds */
  CURFEW_ALLOWS = 1,  /* every one that counts, also where a denial wins */
  CURFEW_TRIALS = 2   /* every one that would have denied */
} curfew_reason_kind;

typedef struct curfew_reason {
  curfew_text id;
  curfew_text message;
  curfew_text file; /* empty for what is built in */
  uint32_t line;
  uint32_t column;
} curfew_reason;

/* Sorted by id. Where more hold than a verdict has room for the first are there, and
 * curfew_verdict_is_cut answers 1. The texts live as long as the policy. */
CURFEW_API size_t curfew_verdict_reason_count(const curfew_verdict* verdict,
                                              curfew_reason_kind kind);
CURFEW_API curfew_status curfew_verdict_reason(const curfew_verdict* verdict,
                                               curfew_reason_kind kind, size_t index,
                                               curfew_reason* reason);
CURFEW_API int curfew_verdict_is_cut(const curfew_verdict* verdict);

/* ---- Records -----------------------------------------------------------------------------------
 * Decisions on record, each with every fact that the set's rules can read:
 * compiler/record/README.md has their form. A recorder is a ring between two threads. One decides
 * and writes; another reads, at its own pace. It is freed when neither uses it any more. */

typedef struct curfew_recorder curfew_recorder;

/* What becomes of a decision whose record finds no room in the ring. */
typedef enum curfew_record_when_full {
  CURFEW_RECORD_BLOCK =
      0,                  /* it waits until the reader has made some: all decisions are on record */
  CURFEW_RECORD_COUNT = 1 /* it goes on, and its record is dropped and counted */
} curfew_record_when_full;

/* No record is longer. */
#define CURFEW_RECORD_BYTES_MAX 16384

/* For decisions by this policy, with a ring of `ring_bytes` or more: at least 64 KiB, and the next
 * power of two. */
CURFEW_API curfew_status curfew_recorder_new(const curfew_policy* policy, size_t ring_bytes,
                                             curfew_record_when_full when_full,
                                             curfew_recorder** recorder, curfew_error* error);
CURFEW_API void curfew_recorder_free(curfew_recorder* recorder);
/* By the thread that decides, after a reload: from here on it is for decisions by this policy. */
CURFEW_API curfew_status curfew_recorder_use(curfew_recorder* recorder, const curfew_policy* policy,
                                             curfew_error* error);

/* curfew_decide with a record of it; the policy is the recorder's. The time on record is the
 * request's `now`. A record that is dropped changes nothing in the answer. */
CURFEW_API curfew_status curfew_decide_recorded(curfew_recorder* recorder,
                                                const curfew_policy* policy,
                                                const curfew_request* request,
                                                curfew_verdict* verdict);

/* By the thread that reads: as many whole records as `buffer` has room for, one behind the other,
 * in the order of their decisions. `written` is how many bytes that are, 0 where there is no record
 * yet; `dropped`, which may be NULL, how many were dropped since the recorder was made: their
 * numbers are missing among the others'. A buffer of CURFEW_RECORD_BYTES_MAX has room for any;
 * CURFEW_TOO_LARGE where the next record does not fit. */
CURFEW_API curfew_status curfew_recorder_read(curfew_recorder* recorder, void* buffer, size_t size,
                                              size_t* written, uint64_t* dropped);
/* By the thread that reads, when it will read no more: nobody waits for it, and what finds no room
 * is dropped. */
CURFEW_API void curfew_recorder_close(curfew_recorder* recorder);

#ifdef __cplusplus
}
#endif
