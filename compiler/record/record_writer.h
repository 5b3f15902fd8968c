// Puts decisions on record, of one thread: one record each, straight into its ring, with no lock,
// no allocation and no shared number but the ring's own.
#pragma once

#include "compiler/module/request.h"
#include "compiler/module/verdict.h"
#include "compiler/record/byte_ring.h"
#include "compiler/record/recorded_facts.h"

#include <cstdint>

namespace curfew::record {

class RecordWriter {
 public:
  // The only writer of `ring`, which must outlive it.
  explicit RecordWriter(ByteRing& ring) : ring_(ring) {}
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // The decision of `request` that an engine made by the module that `facts` are of. False where
  // the ring had no room and the record was dropped; the next one's number tells. The time on
  // record is the request's own `now`: reading a clock would cost as much as all the rest.
  bool Write(const RecordedFacts& facts, const module::Request& request,
             const module::Verdict& verdict);

  // How many decisions came here, with those that were dropped: the number of the next one.
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }

 private:
  ByteRing& ring_;
  std::uint64_t sequence_ = 0;
};

}  // namespace curfew::record
