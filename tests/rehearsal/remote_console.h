#pragma once
// A remote console in a few lines, to say to a virtual BMC what no well-behaved tool would. What it
// knows of the protocol is held against the real tools' tests beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rehearsal/ipmi/service.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {

/// A BMC without a socket, with a clock that the test moves.
struct QuietBmc : RackLoop {
  explicit QuietBmc(std::vector<Fault> faults = {}, double speed = 10000)
      : RackLoop{speed},
        machine{io.get_executor(), clock, dgx(), "v01-n01", 1, BootTimes{}, std::move(faults)},
        service{io.get_executor(), machine, "admin", "password", [this] { return now; }} {
    service.send = [this](const ipmi::Peer&, const ipmi::Bytes& datagram) {
      sent.push_back(datagram);
    };
  }
  ~QuietBmc() {
    service.stop();
    machine.stop();
    io.restart();
    io.run();
  }

  /// What came back for it; empty: nothing did.
  ipmi::Bytes say(const ipmi::Bytes& datagram) {
    sent.clear();
    service.handle(datagram, peer);
    return sent.empty() ? ipmi::Bytes{} : sent.front();
  }

  Machine machine;
  ipmi::Moment now = std::chrono::steady_clock::now();
  ipmi::Service service;
  ipmi::Peer peer{asio::ip::make_address_v4("127.0.0.1"), 4000};
  std::vector<ipmi::Bytes> sent{};
};

class RemoteConsole {
 public:
  explicit RemoteConsole(QuietBmc& bmc, ipmi::Suite suite = ipmi::kSuites[1])
      : bmc_{bmc}, suite_{suite} {}

  ipmi::Bytes plain(ipmi::Payload type, const ipmi::Bytes& payload) {
    const auto answer = bmc_.say(ipmi::plain_packet({.type = type}, payload));
    return answer.size() < 16 ? ipmi::Bytes{} : ipmi::Bytes{answer.begin() + 16, answer.end()};
  }
  ipmi::Bytes open(std::uint8_t privilege = 4) {
    ipmi::Bytes request{0, privilege, 0, 0};
    ipmi::put32(request, 0xA0A1A2A3);
    for (std::uint8_t i = 0; i < 3; ++i) {
      const std::uint8_t algorithms[] = {suite_.authentication, suite_.integrity,
                                         suite_.confidentiality};
      ipmi::put(request, ipmi::Bytes{i, 0, 0, 8, algorithms[i], 0, 0, 0});
    }
    const auto answer = plain(ipmi::Payload::open_session, request);
    if (answer.size() > 12) id = ipmi::Reader{ipmi::View{answer}.subspan(8)}.u32();
    return answer;
  }
  /// `role`: with 10h, by name alone.
  ipmi::Bytes rakp_1(std::uint8_t role = 0x14, const std::string& name = "admin") {
    role_ = role;
    name_ = name;
    ipmi::Bytes request{0, 0, 0, 0};
    ipmi::put32(request, id);
    ipmi::put(request, random_);
    ipmi::put(request, ipmi::Bytes{role, 0, 0, static_cast<std::uint8_t>(name.size())});
    ipmi::put(request, name);
    const auto answer = plain(ipmi::Payload::rakp_1, request);
    if (answer.size() > 40) {
      theirs_ = {answer.begin() + 8, answer.begin() + 24};
      guid_ = {answer.begin() + 24, answer.begin() + 40};
    }
    return answer;
  }
  ipmi::Bytes rakp_3(const std::string& password = "password") {
    const auto key = ipmi::key_of(password);
    ipmi::Bytes covered{theirs_};
    ipmi::put32(covered, 0xA0A1A2A3);
    put_role(covered);
    ipmi::Bytes request{0, 0, 0, 0};
    ipmi::put32(request, id);
    ipmi::put(request, ipmi::hmac(suite_.hash, key, covered));
    ipmi::Bytes both{random_};
    ipmi::put(both, theirs_);
    put_role(both);
    const auto sik = ipmi::hmac(suite_.hash, key, both);
    integrity_key_ = ipmi::hmac(suite_.hash, sik, ipmi::Bytes(20, 1));
    cipher_key_ = ipmi::hmac(suite_.hash, sik, ipmi::Bytes(20, 2));
    return plain(ipmi::Payload::rakp_3, request);
  }
  bool log_in(std::uint8_t privilege = 4) {
    open(privilege);
    rakp_1(static_cast<std::uint8_t>(0x10 | privilege));
    const auto answer = rakp_3();
    return answer.size() > 8 && answer[1] == 0 &&
           (privilege < 3 || ask(6, 0x3B, {privilege})[0] == 0);
  }

  /// A protected datagram.
  ipmi::Bytes sealed(ipmi::Payload type, ipmi::Bytes clear, std::uint32_t sequence) const {
    std::uint8_t padding = 0;
    while ((clear.size() + 1) % 16 != 0) clear.push_back(++padding);
    clear.push_back(padding);
    const ipmi::Bytes iv(16, 0x11);
    auto body = iv;
    ipmi::put(body, ipmi::aes_encrypt(cipher_key_, iv, clear));
    auto bytes = ipmi::header_of({.type = type,
                                  .encrypted = true,
                                  .authenticated = true,
                                  .session = id,
                                  .sequence = sequence},
                                 body.size());
    ipmi::put(bytes, body);
    std::uint8_t pad = 0;
    for (; (bytes.size() - 4 + 2) % 4 != 0; ++pad) bytes.push_back(0xFF);
    bytes.push_back(pad);
    bytes.push_back(7);
    const auto code = ipmi::hmac(suite_.hash, integrity_key_, ipmi::View{bytes}.subspan(4));
    ipmi::put(bytes, ipmi::View{code}.first(suite_.code));
    return bytes;
  }
  /// In clear: what a protected answer carries.
  ipmi::Bytes opened(const ipmi::Bytes& datagram) const {
    const auto packet = ipmi::parse_packet(datagram);
    if (!packet || packet->payload.size() < 32) return {};
    auto clear =
        *ipmi::aes_decrypt(cipher_key_, packet->payload.first(16), packet->payload.subspan(16));
    clear.resize(clear.size() - clear.back() - 1u);
    return clear;
  }
  static ipmi::Bytes message(std::uint8_t function, std::uint8_t command, const ipmi::Bytes& data) {
    ipmi::Bytes bytes{0x20, static_cast<std::uint8_t>(function << 2)};
    bytes.push_back(ipmi::checksum(bytes));
    ipmi::put(bytes, ipmi::Bytes{0x81, 0, command});
    ipmi::put(bytes, data);
    bytes.push_back(ipmi::checksum(ipmi::View{bytes}.subspan(3)));
    return bytes;
  }
  /// Completion code and data; 0xEE alone where there was no answer.
  ipmi::Bytes ask(std::uint8_t function, std::uint8_t command, const ipmi::Bytes& data = {}) {
    return ask_as(++number, function, command, data);
  }
  ipmi::Bytes ask_as(std::uint32_t sequence, std::uint8_t function, std::uint8_t command,
                     const ipmi::Bytes& data = {}) {
    const auto answer =
        bmc_.say(sealed(ipmi::Payload::message, message(function, command, data), sequence));
    const auto clear = opened(answer);
    if (clear.size() < 8) return {0xEE};
    return {clear.begin() + 6, clear.end() - 1};
  }

  std::uint32_t id = 0;
  std::uint32_t number = 0;

 private:
  void put_role(ipmi::Bytes& into) const {
    ipmi::put(into, ipmi::Bytes{role_, static_cast<std::uint8_t>(name_.size())});
    ipmi::put(into, name_);
  }

  QuietBmc& bmc_;
  ipmi::Suite suite_;
  std::uint8_t role_ = 0;
  std::string name_{};
  ipmi::Bytes random_ = ipmi::Bytes(16, 0x42);
  ipmi::Bytes theirs_{}, guid_{}, integrity_key_{}, cipher_key_{};
};

}  // namespace cupel::rehearsal
