#include "rehearsal/ipmi/session.h"

#include <algorithm>

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::size_t kRandom = 16;
constexpr std::uint8_t kNameOnly = 0x10;

Bytes refusal(std::uint8_t tag, Status status, std::uint32_t remote_id) {
  Bytes bytes{tag, static_cast<std::uint8_t>(status), 0, 0};
  put32(bytes, remote_id);
  return bytes;
}

void put_role(Bytes& into, const Session& session) {
  put8(into, session.role);
  put8(into, static_cast<unsigned>(session.name.size()));
  put(into, session.name);
}

}  // namespace

bool take_sequence(Session& session, std::uint32_t number) {
  constexpr std::uint32_t kAhead = 15, kBehind = 16;
  if (number == 0) return false;
  const std::uint32_t ahead = number - session.highest;
  if (ahead != 0 && ahead <= kAhead) {
    session.seen = session.seen << ahead | 1u;
    session.highest = number;
    return true;
  }
  const std::uint32_t behind = session.highest - number;
  if (behind > kBehind) return false;
  const std::uint32_t bit = 1u << behind;
  if ((session.seen & bit) != 0) return false;
  session.seen |= bit;
  return true;
}

/// 13.17: three records of 8 bytes, each with an algorithm, or with length 0 for "you choose".
const Suite* Sessions::suite_of(View proposal, Status& why) const {
  std::array<std::optional<std::uint8_t>, 3> requested;
  constexpr std::size_t kRecord = 8;
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const auto record = proposal.subspan(i * kRecord, kRecord);
    why = Status::illegal_parameter;
    if (record[0] != i) return nullptr;
    if (record[3] == kRecord) requested[i] = record[4] & 0x3F;
  }
  const auto allowed = [&](const Suite& suite) { return !suite_3_only || suite.id == 3; };
  const auto known = [&](std::size_t index, auto member) {
    return !requested[index] || std::ranges::any_of(kSuites, [&](const Suite& suite) {
      return allowed(suite) && suite.*member == *requested[index];
    });
  };
  why = Status::invalid_authentication;
  if (!known(0, &Suite::authentication)) return nullptr;
  why = Status::invalid_integrity;
  if (!known(1, &Suite::integrity)) return nullptr;
  why = Status::invalid_confidentiality;
  if (!known(2, &Suite::confidentiality)) return nullptr;
  why = Status::no_suite;
  for (const auto& suite : kSuites)
    if (allowed(suite) && requested[0].value_or(suite.authentication) == suite.authentication &&
        requested[1].value_or(suite.integrity) == suite.integrity &&
        requested[2].value_or(suite.confidentiality) == suite.confidentiality)
      return &suite;
  return nullptr;
}

/// A slot of its own: what timed out goes, then the oldest that was only begun.
Session* Sessions::make_room(Moment now) {
  expire(now);
  if (sessions_.size() >= kMost) {
    const auto begun = std::ranges::find_if(
        sessions_, [](const Session& each) { return each.state != Session::State::active; });
    if (begun == sessions_.end()) return nullptr;
    sessions_.erase(begun);
  }
  return &sessions_.emplace_back();
}

std::optional<Bytes> Sessions::open(View request, const Peer& peer, Moment now) {
  constexpr std::size_t kSize = 32, kProposal = 24;
  if (request.size() < kSize) return std::nullopt;
  Reader reader{request};
  const auto tag = reader.u8();
  const auto asked = reader.u8() & 0x0F;
  reader.u16();
  const auto remote_id = reader.u32();
  const auto proposal = reader.take(kProposal);
  if (asked > static_cast<int>(Privilege::oem))
    return refusal(tag, Status::invalid_role, remote_id);
  auto why = Status::good;
  const auto* suite = suite_of(proposal, why);
  if (suite == nullptr) return refusal(tag, why, remote_id);
  if (remote_id == 0) return refusal(tag, Status::invalid_session, remote_id);
  auto* session = full ? nullptr : make_room(now);
  if (session == nullptr) return refusal(tag, Status::no_resources, remote_id);
  const auto id = random_bytes(4);
  session->id = std::max(1u, Reader{id}.u32());
  session->remote_id = remote_id;
  session->handle = next_handle_++;
  if (next_handle_ == 0) next_handle_ = 1;
  session->peer = peer;
  session->suite = *suite;
  session->used = now;
  session->asked = asked == 0 ? Privilege::administrator : static_cast<Privilege>(asked);
  Bytes answer{tag, 0, static_cast<std::uint8_t>(session->asked), 0};
  put32(answer, remote_id);
  put32(answer, session->id);
  put(answer, Bytes{0, 0, 0, 8, suite->authentication, 0, 0, 0});
  put(answer, Bytes{1, 0, 0, 8, suite->integrity, 0, 0, 0});
  put(answer, Bytes{2, 0, 0, 8, suite->confidentiality, 0, 0, 0});
  return answer;
}

/// A wrong password gives RAKP 2 a code that the client finds wrong, as on a real BMC (13.21).
Bytes Sessions::key_of_user(const Session& session) const {
  const auto* user = users_.at(session.user);
  auto key = key_of(user == nullptr ? std::string{} : user->password);
  if (wrong_password) key[0] ^= 0x5A;
  return key;
}

std::optional<Bytes> Sessions::rakp_1(View request, Moment now) {
  Reader reader{request};
  const auto tag = reader.u8();
  reader.take(3);
  const auto id = reader.u32();
  const auto random = reader.take(kRandom);
  const auto role = reader.u8();
  reader.u16();
  const auto length = reader.u8();
  if (!reader.good()) return std::nullopt;
  auto* session = find(id);
  if (session == nullptr || session->state == Session::State::active)
    return refusal(tag, Status::invalid_session, 0);
  const auto refuse = [&](Status status) {
    const auto answer = refusal(tag, status, session->remote_id);
    close(id);
    return answer;
  };
  if (length > kMostName) return refuse(Status::invalid_name_length);
  const auto name = reader.take(length);
  if (!reader.good()) return refuse(Status::invalid_name_length);
  auto requested = static_cast<Privilege>(role & 0x0F);
  if (requested > Privilege::oem) return refuse(Status::invalid_role);
  if (requested == Privilege::unspecified) requested = session->asked;
  session->name.assign(name.begin(), name.end());
  const auto found = users_.find(session->name, requested, (role & kNameOnly) == 0);
  if (locked) return refuse(Status::unauthorized_name);
  if (found.id == 0)
    return refuse(found.name_is_known ? Status::unauthorized_role : Status::unauthorized_name);
  session->state = Session::State::challenged;
  session->used = now;
  session->user = found.id;
  session->role = role;
  session->limit = std::min(requested, session->asked);
  session->remote_random.assign(random.begin(), random.end());
  session->random = random_bytes(kRandom);
  Bytes covered;
  put32(covered, session->remote_id);
  put32(covered, session->id);
  put(covered, session->remote_random);
  put(covered, session->random);
  put(covered, guid_);
  put_role(covered, *session);
  Bytes answer{tag, 0, 0, 0};
  put32(answer, session->remote_id);
  put(answer, session->random);
  put(answer, guid_);
  put(answer, hmac(session->suite.hash, key_of_user(*session), covered));
  return answer;
}

std::optional<Bytes> Sessions::rakp_3(View request, Moment now) {
  Reader reader{request};
  const auto tag = reader.u8();
  const auto status = reader.u8();
  reader.u16();
  const auto id = reader.u32();
  const auto code = reader.rest();
  if (!reader.good()) return std::nullopt;
  auto* session = find(id);
  // Once more where RAKP 4 was lost: nothing has come through the session yet.
  const bool expected =
      session != nullptr && session->state != Session::State::opened && session->highest == 0;
  if (!expected) return refusal(tag, Status::invalid_session, 0);
  if (status != 0) {
    // 13.22: the console has found RAKP 2 wrong; that has no answer.
    close(id);
    return std::nullopt;
  }
  const auto hash = session->suite.hash;
  const auto key = key_of_user(*session);
  Bytes covered{session->random};
  put32(covered, session->remote_id);
  put_role(covered, *session);
  if (!same(code, hmac(hash, key, covered))) {
    const auto answer = refusal(tag, Status::invalid_check_value, session->remote_id);
    close(id);
    return answer;
  }
  // 13.31, 13.32. K_G is not set: the user's key stands for it.
  Bytes both{session->remote_random};
  put(both, session->random);
  put_role(both, *session);
  const auto sik = hmac(hash, key, both);
  session->integrity_key = hmac(hash, sik, Bytes(20, 0x01));
  session->cipher_key = hmac(hash, sik, Bytes(20, 0x02));
  session->state = Session::State::active;
  session->used = now;
  session->privilege = std::min(Privilege::user, session->limit);
  Bytes last{session->remote_random};
  put32(last, session->id);
  put(last, guid_);
  Bytes answer{tag, 0, 0, 0};
  put32(answer, session->remote_id);
  put(answer, View{hmac(hash, sik, last)}.first(session->suite.code));
  return answer;
}

Session* Sessions::find(std::uint32_t id) {
  const auto found = std::ranges::find(sessions_, id, &Session::id);
  return found == sessions_.end() ? nullptr : &*found;
}

Session* Sessions::by_handle(std::uint8_t handle) {
  const auto found = std::ranges::find(sessions_, handle, &Session::handle);
  return found == sessions_.end() ? nullptr : &*found;
}

std::size_t Sessions::active() const {
  return static_cast<std::size_t>(
      std::ranges::count(sessions_, Session::State::active, &Session::state));
}

void Sessions::close(std::uint32_t id) {
  sessions_.remove_if([&](const Session& each) { return each.id == id; });
}

void Sessions::expire(Moment now) {
  sessions_.remove_if([&](const Session& each) { return now - each.used > kTimeout; });
}

std::optional<Bytes> Sessions::unprotect(Session& session, const Packet& packet, Moment now) {
  constexpr std::uint8_t kNextHeader = 0x07;
  constexpr std::size_t kBlock = 16;
  const bool as_agreed = session.state == Session::State::active && packet.authenticated &&
                         packet.encrypted && packet.trailer.size() >= session.suite.code + 2;
  if (!as_agreed) return std::nullopt;
  const auto pad = packet.trailer.first(packet.trailer.size() - session.suite.code);
  if (pad.back() != kNextHeader || pad[pad.size() - 2] != pad.size() - 2) return std::nullopt;
  Bytes covered{packet.covered.begin(), packet.covered.end()};
  put(covered, pad);
  const auto code = hmac(session.suite.hash, session.integrity_key, covered);
  if (!same(View{code}.first(session.suite.code), packet.trailer.subspan(pad.size())))
    return std::nullopt;
  if (packet.payload.size() < 2 * kBlock) return std::nullopt;
  auto clear =
      aes_decrypt(session.cipher_key, packet.payload.first(kBlock), packet.payload.subspan(kBlock));
  if (!clear || clear->empty()) return std::nullopt;
  // 13.29: 01h, 02h, ... and their number.
  const std::size_t padding = clear->back();
  if (padding + 1 > clear->size() || padding >= kBlock) return std::nullopt;
  clear->resize(clear->size() - padding - 1);
  if (!take_sequence(session, packet.sequence)) return std::nullopt;
  session.used = now;
  return clear;
}

Bytes Sessions::protect(Session& session, Payload type, View payload) {
  constexpr std::size_t kBlock = 16;
  Bytes clear{payload.begin(), payload.end()};
  const auto padding = (kBlock - (clear.size() + 1) % kBlock) % kBlock;
  for (std::size_t i = 1; i <= padding; ++i) put8(clear, static_cast<unsigned>(i));
  put8(clear, static_cast<unsigned>(padding));
  auto body = random_bytes(kBlock);
  put(body, aes_encrypt(session.cipher_key, Bytes{body}, clear));
  if (++session.sent == 0) ++session.sent;
  auto bytes = header_of({.type = type,
                          .encrypted = true,
                          .authenticated = true,
                          .session = session.remote_id,
                          .sequence = session.sent},
                         body.size());
  put(bytes, body);
  // 13.28.4: FFh until what is covered has whole words.
  constexpr std::size_t kRmcp = 4;
  std::size_t pad = 0;
  for (; (bytes.size() - kRmcp + 2) % 4 != 0; ++pad) put8(bytes, 0xFF);
  put8(bytes, static_cast<unsigned>(pad));
  put8(bytes, 0x07);
  const auto code = hmac(session.suite.hash, session.integrity_key, View{bytes}.subspan(kRmcp));
  put(bytes, View{code}.first(session.suite.code));
  return bytes;
}

}  // namespace cupel::rehearsal::ipmi
