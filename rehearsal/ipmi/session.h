#pragma once
// RMCP+ sessions: how one is opened, what protects its packets, when it ends. Bytes in, bytes out;
// no socket, and the time is a parameter. Source: IPMI 2.0, 6.12 and 13.15 to 13.32.
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <list>
#include <optional>
#include <string>

#include "rehearsal/ipmi/crypto.h"
#include "rehearsal/ipmi/packet.h"
#include "rehearsal/ipmi/users.h"

namespace cupel::rehearsal::ipmi {

using Peer = boost::asio::ip::udp::endpoint;
using Moment = std::chrono::steady_clock::time_point;

/// 22.15.2: what this BMC speaks.
struct Suite {
  std::uint8_t id, authentication, integrity, confidentiality;
  Hash hash;
  std::size_t code;  // bytes of the integrity check
};
inline constexpr std::array<Suite, 2> kSuites{
    {{3, 1, 1, 1, Hash::sha1, 12}, {17, 3, 4, 1, Hash::sha256, 16}}};

/// Table 13-15.
enum class Status : std::uint8_t {
  good = 0x00,
  no_resources = 0x01,
  invalid_session = 0x02,
  invalid_authentication = 0x04,
  invalid_integrity = 0x05,
  invalid_role = 0x09,
  unauthorized_role = 0x0A,
  invalid_name_length = 0x0C,
  unauthorized_name = 0x0D,
  invalid_check_value = 0x0F,
  invalid_confidentiality = 0x10,
  no_suite = 0x11,
  illegal_parameter = 0x12,
};

struct Session {
  enum class State { opened, challenged, active };
  State state = State::opened;
  std::uint32_t id = 0, remote_id = 0;
  std::uint8_t handle = 0;
  Peer peer{};
  Suite suite{};
  Moment used{};
  std::uint8_t user = 0;
  std::uint8_t role = 0;  // as it was asked for, the lookup's bit with it
  std::string name{};
  Privilege asked = Privilege::administrator;
  Privilege limit = Privilege::user, privilege = Privilege::user;
  Bytes remote_random{}, random{}, integrity_key{}, cipher_key{};
  std::uint32_t sent = 0;  // sequence number of the last packet out
  std::uint32_t highest = 0;
  std::uint32_t seen = 0;  // bit n: highest - n has come
};

/// 6.12.13: each number once, and none that is more than 16 behind or 15 ahead.
bool take_sequence(Session& session, std::uint32_t number);

class Sessions {
 public:
  static constexpr std::size_t kMost = 8;
  static constexpr std::chrono::seconds kTimeout{60};  // 6.12.15, of our time

  /// `users` must outlive it. `guid`: as Get System GUID tells it.
  Sessions(const Users& users, Bytes guid) : users_{users}, guid_{std::move(guid)} {}

  bool suite_3_only = false;
  bool wrong_password = false;
  bool full = false;    // no seat for anybody new
  bool locked = false;  // every user

  // The answer's payload; nothing where there is none.
  std::optional<Bytes> open(View request, const Peer& peer, Moment now);
  std::optional<Bytes> rakp_1(View request, Moment now);
  std::optional<Bytes> rakp_3(View request, Moment now);

  Session* find(std::uint32_t id);
  Session* by_handle(std::uint8_t handle);
  std::size_t active() const;
  void close(std::uint32_t id);
  void close_all() { sessions_.clear(); }
  /// Ends what nobody has used for long. Returns how many.
  void expire(Moment now);

  /// The payload in clear: its check, its number and its padding are right. Nothing otherwise.
  std::optional<Bytes> unprotect(Session& session, const Packet& packet, Moment now);
  Bytes protect(Session& session, Payload type, View payload);

 private:
  const Suite* suite_of(View proposal, Status& why) const;
  Session* make_room(Moment now);
  Bytes key_of_user(const Session& session) const;

  const Users& users_;
  Bytes guid_;
  std::list<Session> sessions_{};
  std::uint8_t next_handle_ = 1;
};

}  // namespace cupel::rehearsal::ipmi
