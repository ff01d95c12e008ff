#pragma once
// What one boot of one node is allowed, and what is heard of it: plain data.
#include <boost/asio/ip/address.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cupel::netboot {

/// What the inventory says of a node. Empty: not known, and not compared.
struct ExpectedMachine {
  std::string node{};
  std::string serial{}, uuid{};
  std::vector<std::string> macs{};  // "aa:bb:cc:dd:ee:ff"
  std::string arch{};               // "x86_64", "aarch64"
  std::string rack{};               // whose bytes per second it shares
  friend bool operator==(const ExpectedMachine&, const ExpectedMachine&) = default;
};

/// One boot's permission. All three are secrets: who has them may ask for the order.
struct Ticket {
  std::string token{};     // 32 lower-case hexadecimal digits
  std::string base_url{};  // "http://10.0.0.1:8080/boot/TOKEN/"
  std::string home_url{};  // "http://10.0.0.1:8080/home/TOKEN2"
  friend bool operator==(const Ticket&, const Ticket&) = default;
};

/// What one node is to do in one boot, and what it may fetch for it.
struct BootOrder {
  ExpectedMachine machine{};
  /// The answer to its hello, as it is.
  boost::json::object order{};
  /// Name in the URL ("ram.efi", "vmlinuz", "initrd", "root.squashfs", "ram.iso", "image") → file
  /// below BootServerOptions::folder. `ram.efi` carries the ticket in its command line, and where
  /// there are `vmlinuz` and `initrd` there is `boot.ipxe`.
  std::map<std::string, std::string> files{};
  /// Of `boot.ipxe`, before the ticket: words of letters, digits and "._,:=/@+-".
  std::string kernel_arguments{};
  /// What the ticket adds to the command line of `ram.efi` and `boot.ipxe`: such words, and "[]".
  /// Empty: "cupel.boot=" and the ticket's URL.
  std::string ticket_arguments{};
  /// Name in the URL → text, served like a file. Answers to an installer; no secrets.
  std::map<std::string, std::string> texts{};
  /// "meta-data", "user-data", "network-config", "late" → text. Secret: served once, after hello.
  std::map<std::string, std::string> seed{};
  std::chrono::seconds lifetime{3600};
  /// Its firmware may come without the ticket, sent by DHCP to /dhcp/: it is known there by the
  /// MAC addresses of `machine`, or, through a router, by `address`.
  bool by_dhcp = false;
  std::string address{};                           // "10.0.2.11"; empty: not known before
  std::optional<boost::asio::ip::address> peer{};  // nobody else is answered
  /// Of the machine that said hello with this ticket to an earlier controller: it goes on without
  /// another hello. Nothing: no machine has.
  std::optional<boost::asio::ip::address> greeted{};
};

/// How far a boot has come, for one that goes on after the controller has restarted.
enum class BootStage { issued, done, home };

struct BootEvent {
  enum class Kind { fetched, hello, refused, progress, done, failed, home, expired };
  Kind kind{};
  std::chrono::system_clock::time_point at{};
  /// What the machine said. Of `refused`: {"cause", "text"}. Hostile: bounded and parsed, no more.
  boost::json::object body{};
  std::string peer{};       // its address
  std::string file{};       // of `fetched`
  std::uint64_t bytes = 0;  // of `fetched`
  bool whole = false;       // of `fetched`: all that was asked for went out
};

std::string_view to_string(BootEvent::Kind kind);

}  // namespace cupel::netboot
