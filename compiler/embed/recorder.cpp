#include "compiler/embed/handles.h"
#include "compiler/record/byte_ring.h"
#include "compiler/record/record_writer.h"
#include "compiler/record/recorded_facts.h"

#include <memory>

// The name is that of the C header.
struct curfew_recorder {
  curfew_recorder(const curfew_policy& of, std::size_t bytes, curfew::record::WhenFull when_full)
      : policy(curfew::embed::SharedWith(of)),
        facts(of.policy()),
        ring(bytes, when_full),
        writer(ring) {}

  std::shared_ptr<const curfew_policy> policy;
  curfew::record::RecordedFacts facts;  // of the policy
  curfew::record::ByteRing ring;
  curfew::record::RecordWriter writer;
};

using namespace curfew;
using namespace curfew::embed;

static_assert(CURFEW_RECORD_BYTES_MAX == record::ByteRing::RecordBytesMax);

extern "C" {

curfew_status curfew_recorder_new(const curfew_policy* policy, size_t ring_bytes,
                                  curfew_record_when_full when_full, curfew_recorder** recorder,
                                  curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (policy == nullptr || recorder == nullptr) {
      return Fail(error, CURFEW_INVALID_ARGUMENT,
                  "the policy or the place for the recorder is NULL");
    }
    *recorder = nullptr;
    if (when_full > CURFEW_RECORD_COUNT || ring_bytes > record::ByteRing::BytesMax) {
      return Fail(error, CURFEW_INVALID_ARGUMENT,
                  "a full ring blocks or counts, and has at most a GiB");
    }
    *recorder = new curfew_recorder(
        *policy, ring_bytes,
        when_full == CURFEW_RECORD_BLOCK ? record::WhenFull::Block : record::WhenFull::Count);
    return CURFEW_OK;
  });
}

void curfew_recorder_free(curfew_recorder* recorder) { delete recorder; }

curfew_status curfew_recorder_use(curfew_recorder* recorder, const curfew_policy* policy,
                                  curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (recorder == nullptr || policy == nullptr) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the recorder or the policy is NULL");
    }
    recorder->facts = record::RecordedFacts(policy->policy());
    recorder->policy = SharedWith(*policy);
    return CURFEW_OK;
  });
}

curfew_status curfew_decide_recorded(curfew_recorder* recorder, const curfew_policy* policy,
                                     const curfew_request* request, curfew_verdict* verdict) {
  const bool is_its_own = recorder != nullptr && recorder->policy.get() == policy;
  // Without a recorder of the policy nothing is decided: the verdict denies.
  const curfew_status status = curfew_decide(is_its_own ? policy : nullptr, request, verdict);
  if (status != CURFEW_OK) return status;
  recorder->writer.Write(recorder->facts, request->request.request(), verdict->room.verdict);
  return CURFEW_OK;
}

curfew_status curfew_recorder_read(curfew_recorder* recorder, void* buffer, size_t size,
                                   size_t* written, uint64_t* dropped) {
  if (written != nullptr) *written = 0;
  if (recorder == nullptr || buffer == nullptr || written == nullptr) {
    return CURFEW_INVALID_ARGUMENT;
  }
  record::ByteRing& ring = recorder->ring;
  auto* const bytes = static_cast<std::uint8_t*>(buffer);
  ByteView record = ring.Peek();
  while (!record.empty() && record.size() <= size - *written) {
    std::memcpy(bytes + *written, record.data(), record.size());
    *written += record.size();
    (void)ring.Next();
    record = ring.Peek();
  }
  ring.Release();
  if (dropped != nullptr) *dropped = ring.dropped();
  return *written == 0 && !record.empty() ? CURFEW_TOO_LARGE : CURFEW_OK;
}

void curfew_recorder_close(curfew_recorder* recorder) {
  if (recorder != nullptr) recorder->ring.Close();
}

}  // extern "C"
