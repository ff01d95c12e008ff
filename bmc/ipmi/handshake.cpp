#include "bmc/ipmi/handshake.h"

#include <array>

#include "bmc/ipmi/commands.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kByNameAlone = 0x10;  // 13.20: look the user up without the privilege
constexpr std::uint8_t kBadCheckValue = 0x0f;
constexpr int kTriesInTheMiddle = 2;

struct Status {
  Code code;
  const char* words;
};

/// IPMI 2.0, table 13-15.
constexpr std::array kStatuses{
    Status{Code::kFailed, "no errors"},
    Status{Code::kBusy, "insufficient resources to create a session"},
    Status{Code::kUnreachable, "invalid session ID"},
    Status{Code::kUnsupported, "invalid payload type"},
    Status{Code::kUnsupported, "invalid authentication algorithm"},
    Status{Code::kUnsupported, "invalid integrity algorithm"},
    Status{Code::kUnsupported, "no matching authentication payload"},
    Status{Code::kUnsupported, "no matching integrity payload"},
    Status{Code::kUnreachable, "inactive session ID"},
    Status{Code::kRefused, "invalid role"},
    Status{Code::kRefused, "unauthorized role or privilege level requested"},
    Status{Code::kBusy, "insufficient resources to create a session at the requested role"},
    Status{Code::kRefused, "invalid name length"},
    Status{Code::kRefused, "unauthorized name"},
    Status{Code::kRefused, "unauthorized GUID"},
    Status{Code::kRefused, "invalid integrity check value"},
    Status{Code::kUnsupported, "invalid confidentiality algorithm"},
    Status{Code::kUnsupported, "no cipher suite match with proposed security algorithms"},
    Status{Code::kUnsupported, "illegal or unrecognized parameter"},
};

Bytes numbers(std::uint32_t first, std::uint32_t second) {
  Bytes bytes;
  put32(bytes, first);
  put32(bytes, second);
  return bytes;
}

/// One of the three algorithm payloads: table 13-9.
void put_algorithm(Bytes& into, std::uint8_t kind, std::uint8_t algorithm) {
  for (const int each : {+kind, 0, 0, 8, algorithm & 0x3f, 0, 0, 0})
    into.push_back(static_cast<std::uint8_t>(each));
}

/// The algorithm of such a payload, where it is one of this kind.
std::optional<std::uint8_t> algorithm_of(View payload, std::uint8_t kind) {
  if (payload.size() != 8 || payload[0] != kind) return std::nullopt;
  return static_cast<std::uint8_t>(payload[4] & 0x3f);
}

const char* name_of(PayloadType type) {
  switch (type) {
    case PayloadType::open_session_request:
      return "Open Session";
    case PayloadType::rakp1:
      return "RAKP Message 1";
    default:
      return "RAKP Message 3";
  }
}

}  // namespace

Handshake::Handshake(Login login) : login_{std::move(login)} {}

Handshake::~Handshake() {
  wipe(login_.password);
  wipe(key_);
}

Action Handshake::start() { return ask(Step::open); }

Action Handshake::ask(Step step) {
  step_ = step;
  patience_ = {};
  return again();
}

Action Handshake::again() {
  const auto wait = patience_.next();
  return Send{question(), wait};
}

Action Handshake::on_timeout() {
  if (step_ == Step::over) return Done{};
  const bool in_the_middle = step_ != Step::open && patience_.tries() == kTriesInTheMiddle;
  if (patience_.exhausted() || in_the_middle) return give_up();
  if (step_ == Step::rakp1) resent_rakp1_ = true;
  return again();
}

Action Handshake::give_up() {
  stuck_ = step_ != Step::open;
  if (step_ == Step::rakp3) {
    // If it was RAKP 4 that was lost, there is a session by now that nobody will use.
    Session session{login_.suite, login_.session, theirs_, key_};
    const auto id = numbers(theirs_, 0);
    parting_ =
        session.seal(PayloadType::ipmi, request_message(kCloseSession, 0, View{id}.first(4)));
  }
  return fail(
      {Code::kTimeout, "no answer to any of " + std::to_string(patience_.tries()) + " datagrams"});
}

Action Handshake::fail(Error error) {
  constexpr std::array kTypes{PayloadType::open_session_request, PayloadType::rakp1,
                              PayloadType::rakp3, PayloadType::rakp3};
  outcome_ = std::move(error).within(name_of(kTypes[static_cast<std::size_t>(step_)]));
  step_ = Step::over;
  return Done{};
}

Action Handshake::refuse(std::uint8_t status, bool names_session) {
  unproven_ = !names_session;
  refused_role_ = status == 0x09 || status == 0x0a;
  // The BMC has proved by then that it knows the password: two of its random numbers crossed.
  if (status == kBadCheckValue && step_ == Step::rakp3 && resent_rakp1_)
    return fail({Code::kUnreachable, "the BMC lost the thread between two messages"});
  const auto number = " (" + hex(status, 2) + ")";
  if (status < kStatuses.size())
    return fail({kStatuses[status].code, kStatuses[status].words + number});
  return fail({Code::kFailed, "a status that the standard does not know" + number});
}

Result<Session> Handshake::outcome() {
  if (!outcome_) return Error{Code::kCancelled, "stopped"};
  return std::move(*outcome_);
}

std::uint8_t Handshake::role() const {
  return static_cast<std::uint8_t>(kByNameAlone | static_cast<int>(login_.privilege));
}

std::uint8_t Handshake::tag() const {
  return static_cast<std::uint8_t>(login_.tag + static_cast<int>(step_));
}

Bytes Handshake::question() const {
  switch (step_) {
    case Step::open:
      return without_session(PayloadType::open_session_request, open_request());
    case Step::rakp1:
      return without_session(PayloadType::rakp1, rakp1());
    default:
      return without_session(PayloadType::rakp3, rakp3(0, proof_));
  }
}

Bytes Handshake::open_request() const {
  Bytes bytes{tag(), static_cast<std::uint8_t>(login_.privilege), 0, 0};
  put32(bytes, login_.session);
  put_algorithm(bytes, 0, login_.suite.authentication);
  put_algorithm(bytes, 1, login_.suite.integrity);
  put_algorithm(bytes, 2, login_.suite.confidentiality);
  return bytes;
}

Bytes Handshake::rakp1() const {
  Bytes bytes{tag(), 0, 0, 0};
  put32(bytes, theirs_);
  put(bytes, login_.random);
  for (const int each : {+role(), 0, 0, static_cast<int>(login_.user.size())})
    bytes.push_back(static_cast<std::uint8_t>(each));
  put(bytes, bytes_of(login_.user));
  return bytes;
}

Bytes Handshake::rakp3(std::uint8_t status, View code) const {
  Bytes bytes{tag(), status, 0, 0};
  put32(bytes, theirs_);
  put(bytes, code);
  return bytes;
}

Action Handshake::on_datagram(View datagram) {
  const auto packet = parse_packet(datagram);
  if (!packet) return Wait{};
  const Packet& reported = *packet;
  // Everything that sets up a session is outside of any.
  if (reported.session != 0 || reported.payload.size() < 2 || reported.payload[0] != tag())
    return Wait{};
  if (step_ == Step::open && reported.type == PayloadType::open_session_response)
    return on_open_response(reported.payload);
  if (step_ == Step::rakp1 && reported.type == PayloadType::rakp2)
    return on_rakp2(reported.payload);
  if (step_ == Step::rakp3 && reported.type == PayloadType::rakp4)
    return on_rakp4(reported.payload);
  return Wait{};
}

/// An answer to somebody else who happens to use this tag. A refusal may be cut short, or name no
/// session at all (0, as BMCs do that refuse before they look one up).
bool Handshake::is_anothers(std::uint8_t status, std::uint32_t session) const {
  return session != login_.session && (status == 0 || session != 0);
}

Action Handshake::on_open_response(View payload) {
  Reader reader{payload};
  reader.u8();
  const auto status = reader.u8();
  reader.u16();
  const auto ours = reader.u32();
  if (reader.ok() && is_anothers(status, ours)) return Wait{};
  if (status != 0) return refuse(status, ours == login_.session);
  theirs_ = reader.u32();
  const auto authentication = algorithm_of(reader.take(8), 0);
  const auto integrity = algorithm_of(reader.take(8), 1);
  const auto confidentiality = algorithm_of(reader.take(8), 2);
  if (!reader.ok() || theirs_ == 0)
    return fail({Code::kMalformed, "an Open Session Response cut short"});
  const Suite& suite = login_.suite;
  if (authentication != suite.authentication || integrity != suite.integrity ||
      confidentiality != suite.confidentiality)
    return fail({Code::kUnsupported, "the BMC chose other algorithms than suite " +
                                         std::to_string(suite.number) + " has"});
  return ask(Step::rakp1);
}

Action Handshake::on_rakp2(View payload) {
  Reader reader{payload};
  reader.u8();
  const auto status = reader.u8();
  reader.u16();
  const auto ours = reader.u32();
  if (reader.ok() && is_anothers(status, ours)) return Wait{};
  if (status != 0) return refuse(status, ours == login_.session);
  const auto random = reader.take(16);
  const auto guid = reader.take(16);
  const auto code = reader.take(size_of(login_.suite.hash));
  if (!reader.ok()) return fail({Code::kMalformed, "a RAKP Message 2 cut short"});
  const auto user = bytes_of(login_.user);
  const Bytes who{role(), static_cast<std::uint8_t>(user.size())};
  Mac by_password{login_.suite.hash, bytes_of(login_.password)};
  const auto ids = numbers(login_.session, theirs_);
  const auto expected = by_password.of({ids, login_.random, random, guid, who, user});
  if (!same_secret(expected, code)) {
    step_ = Step::rakp3;
    parting_ = without_session(PayloadType::rakp3, rakp3(kBadCheckValue, {}));
    step_ = Step::rakp1;
    return fail({Code::kRefused, "the BMC has another password for this user"});
  }
  their_random_.assign(random.begin(), random.end());
  their_guid_.assign(guid.begin(), guid.end());
  proof_ = by_password.of({random, View{numbers(login_.session, 0)}.first(4), who, user});
  key_ = by_password.of({login_.random, random, who, user});
  return ask(Step::rakp3);
}

Action Handshake::on_rakp4(View payload) {
  Reader reader{payload};
  reader.u8();
  const auto status = reader.u8();
  reader.u16();
  const auto ours = reader.u32();
  if (reader.ok() && is_anothers(status, ours)) return Wait{};
  if (status != 0) return refuse(status, ours == login_.session);
  const auto check = reader.take(login_.suite.code_size);
  if (!reader.ok()) return fail({Code::kMalformed, "a RAKP Message 4 cut short"});
  Mac by_key{login_.suite.hash, key_};
  const auto theirs = numbers(theirs_, 0);
  const auto expected = by_key.of({login_.random, View{theirs}.first(4), their_guid_});
  // Not verified, and no reason to give up: an attacker who guesses a tag could send it.
  if (!same_secret(View{expected}.first(check.size()), check)) return Wait{};
  outcome_.emplace(Session{login_.suite, login_.session, theirs_, key_});
  step_ = Step::over;
  return Done{};
}

}  // namespace cupel::bmc::ipmi
