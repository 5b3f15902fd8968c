#include "runtime/egress/dns_message.h"

#include "compiler/base/limits.h"
#include "compiler/values/host.h"

#include <string>
#include <string_view>

namespace curfew::egress {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kNameBytesMax = 255;
constexpr std::uint16_t kClassIn = 1;
constexpr std::uint16_t kTypeA = 1;
constexpr std::uint16_t kTypeOpt = 41;
constexpr std::uint16_t kTypeTransferFirst = 251;  // IXFR, AXFR, MAILB, MAILA
constexpr std::uint16_t kTypeTransferLast = 254;
constexpr std::uint16_t kTypeAny = 255;
constexpr std::uint32_t kSecondsToLive = 300;
constexpr std::uint16_t kPayloadBytes = 1232;
// Clients that would ask a resolver of their own over HTTPS ask for this first, and stay with the
// one they were given where it does not exist (Mozilla's canary domain).
constexpr std::string_view kNoDohCanary = "use-application-dns.net";

enum class Rcode : std::uint16_t {
  NoError = 0,
  FormErr = 1,
  ServFail = 2,
  NxDomain = 3,
  NotImp = 4,
  Refused = 5,
  BadVers = 16
};

// Reads forward and never past the end: then everything is 0 and `failed` stays set.
class Reader {
 public:
  explicit Reader(ByteView bytes) : bytes_(bytes) {}
  std::uint8_t Byte() {
    if (at_ >= bytes_.size()) {
      failed_ = true;
      return 0;
    }
    return bytes_[at_++];
  }
  std::uint16_t Short() {
    const unsigned high = Byte();
    return static_cast<std::uint16_t>(high << 8 | Byte());
  }
  ByteView Take(std::size_t size) {
    if (bytes_.size() - at_ < size) {
      failed_ = true;
      return {};
    }
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool is_at_end() const { return at_ == bytes_.size(); }

 private:
  ByteView bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

struct Question {
  ByteView wire;     // name, type and class as they came
  std::string name;  // as text, whatever bytes its labels hold; a dot in a label is escaped
  std::uint16_t type = 0;
  std::uint16_t class_of = 0;
};

struct Edns {
  bool present = false;
  std::uint8_t version = 0;
};

// A name without compression: a question is the first name of its message, so there is nothing that
// it could point to but itself.
bool ReadName(Reader& in, std::string& text) {
  std::size_t bytes = 1;
  for (;;) {
    const std::uint8_t length = in.Byte();
    if (in.failed()) return false;
    if (length == 0) return true;
    bytes += 1 + length;
    if (length > limits::LabelBytesMax || bytes > kNameBytesMax) return false;
    const ByteView label = in.Take(length);
    if (in.failed()) return false;
    if (!text.empty()) text += '.';
    for (const std::uint8_t byte : label) {
      if (byte == '.') text += '\\';
      text += static_cast<char>(byte);
    }
  }
}

bool ReadQuestion(Reader& in, ByteView message, Question& question) {
  const std::size_t begin = in.at();
  if (!ReadName(in, question.name)) return false;
  question.type = in.Short();
  question.class_of = in.Short();
  question.wire = message.subspan(begin, in.at() - begin);
  return !in.failed();
}

bool ReadEdns(Reader& in, Edns& edns) {
  const std::uint8_t root = in.Byte();
  const std::uint16_t type = in.Short();
  in.Short();  // the sender's payload size: no answer here needs more than 512 bytes
  in.Byte();   // upper bits of the code
  edns.version = in.Byte();
  in.Short();  // flags
  in.Take(in.Short());
  edns.present = true;
  return !in.failed() && root == 0 && type == kTypeOpt;
}

void Put(Bytes& out, std::uint16_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

class Reply {
 public:
  explicit Reply(ByteView query) {
    out_.assign(query.begin(), query.begin() + 2);
    // An answer, with the opcode and the wish for recursion of the query, and recursion offered.
    out_.push_back(static_cast<std::uint8_t>(0x80 | (query[2] & 0x79)));
    out_.push_back(static_cast<std::uint8_t>(0x80 | (query[3] & 0x10)));
    out_.resize(kHeaderBytes);
  }
  void Echo(const Question& question) {
    out_[5] = 1;
    out_.insert(out_.end(), question.wire.begin(), question.wire.end());
  }
  void Say(const values::Address& address) {
    out_[7] = 1;
    Put(out_, 0xc00c);  // the name of the question
    Put(out_, kTypeA);
    Put(out_, kClassIn);
    Put(out_, kSecondsToLive >> 16);
    Put(out_, kSecondsToLive & 0xffff);
    Put(out_, 4);
    out_.insert(out_.end(), address.bytes.end() - 4, address.bytes.end());
  }
  Bytes Finish(Rcode code, const Edns& edns) {
    const auto value = static_cast<std::uint16_t>(code);
    out_[3] = static_cast<std::uint8_t>(out_[3] | (value & 0x0f));
    if (edns.present) {
      out_[11] = 1;
      out_.push_back(0);
      Put(out_, kTypeOpt);
      Put(out_, kPayloadBytes);
      out_.push_back(static_cast<std::uint8_t>(value >> 4));
      out_.push_back(0);  // version
      Put(out_, 0);
      Put(out_, 0);
    }
    return std::move(out_);
  }

 private:
  Bytes out_;
};

Rcode AnswerQuestion(const Question& question, Names& names, Reply& reply) {
  if (question.class_of != kClassIn) return Rcode::Refused;
  if (question.type >= kTypeTransferFirst && question.type <= kTypeTransferLast) {
    return Rcode::NotImp;
  }
  const auto host = values::ParseHost(question.name);
  if (!host || *host == kNoDohCanary) return Rcode::NxDomain;
  if (question.type != kTypeA && question.type != kTypeAny) return Rcode::NoError;
  const std::optional<values::Address> address = names.AddressOf(*host);
  if (!address) return Rcode::ServFail;
  reply.Say(*address);
  return Rcode::NoError;
}

}  // namespace

std::optional<Bytes> AnswerDns(ByteView query, Names& names) {
  if (query.size() < kHeaderBytes) return std::nullopt;
  const bool is_answer = (query[2] & 0x80) != 0;
  if (is_answer) return std::nullopt;
  Reply reply(query);
  Edns edns;
  const bool is_query = (query[2] & 0x78) == 0;
  if (!is_query) return reply.Finish(Rcode::NotImp, edns);
  const bool is_cut = (query[2] & 0x02) != 0;
  if (is_cut || query.size() > DnsQueryBytesMax) return reply.Finish(Rcode::FormErr, edns);

  Reader in(query);
  in.Take(4);
  const std::uint16_t questions = in.Short();
  const std::uint16_t answers = in.Short();
  const std::uint16_t authorities = in.Short();
  const std::uint16_t additional = in.Short();
  Question question;
  if (questions != 1 || answers != 0 || authorities != 0 || additional > 1 ||
      !ReadQuestion(in, query, question) || (additional == 1 && !ReadEdns(in, edns)) ||
      !in.is_at_end()) {
    return reply.Finish(Rcode::FormErr, {});
  }
  reply.Echo(question);
  if (edns.version != 0) return reply.Finish(Rcode::BadVers, edns);
  const Rcode code = AnswerQuestion(question, names, reply);
  return reply.Finish(code, edns);
}

}  // namespace curfew::egress
