#include "tests/support/qemu/dhcp_client.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace cupel::testing {
namespace {

using namespace std::literals;

constexpr std::size_t kEthernet = 14, kIp = 20, kUdp = 8, kBootp = 236, kMagic = 4;
constexpr std::size_t kPayload = kEthernet + kIp + kUdp;

std::string number(std::uint32_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(value >> shift & 0xff);
  return text;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

std::string option(int code, std::string_view value) {
  return number(static_cast<std::uint32_t>(code), 1) +
         number(static_cast<std::uint32_t>(value.size()), 1) + std::string{value};
}

std::string bytes_of_mac(std::string_view mac) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < mac.size(); at += 3) {
    std::uint8_t byte = 0;
    std::from_chars(mac.data() + at, mac.data() + at + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::string bytes_of_address(const std::string& address) {
  in_addr parsed{};
  ::inet_pton(AF_INET, address.c_str(), &parsed);
  return number(ntohl(parsed.s_addr), 4);
}

std::string address_at(std::string_view bytes, std::size_t at) {
  std::string text;
  for (std::size_t i = 0; i < 4; ++i)
    text += (i == 0 ? "" : ".") + std::to_string(number_at(bytes, at + i, 1));
  return text;
}

/// Source: RFC 1071.
std::uint32_t checksum(std::string_view header) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < header.size(); at += 2) sum += number_at(header, at, 2);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

std::string message(const DhcpAsk& ask, std::uint32_t transaction) {
  constexpr std::uint32_t kBroadcast = 0x8000;
  std::string text = "\x01\x01\x06\x00"s + number(transaction, 4) + number(0, 2) +
                     number(kBroadcast, 2) + std::string(16, '\0') + bytes_of_mac(ask.mac);
  text.resize(kBootp, '\0');
  text += "\x63\x82\x53\x63" + option(53, number(ask.kind, 1)) +
          option(55, "\x01\x03\x06\x2b\x3c\x42\x43\x61"sv);
  if (!ask.vendor.empty()) text += option(60, ask.vendor);
  if (ask.arch) text += option(93, number(*ask.arch, 2));
  if (ask.arch) text += option(97, std::string(17, '\0'));
  if (ask.ipxe) text += option(175, "\xb0\x01\x01"sv);
  if (!ask.server.empty()) text += option(54, bytes_of_address(ask.server));
  if (!ask.requested.empty()) text += option(50, bytes_of_address(ask.requested));
  return text + '\xff';
}

std::string frame(const std::string& mac, const std::string& payload) {
  const auto udp = number(68, 2) + number(67, 2) +
                   number(static_cast<std::uint32_t>(kUdp + payload.size()), 2) + number(0, 2);
  const auto head = [&](std::uint32_t sum) {
    return "\x45\x00"s + number(static_cast<std::uint32_t>(kIp + kUdp + payload.size()), 2) +
           number(1, 2) + number(0, 2) + "\x40\x11"s + number(sum, 2) + number(0, 4) +
           number(0xffffffff, 4);
  };
  return std::string(6, '\xff') + bytes_of_mac(mac) + "\x08\x00"s + head(checksum(head(0))) + udp +
         payload;
}

/// A name in a field of fixed size.
std::string until_zero(std::string_view field) {
  return std::string{field.substr(0, field.find('\0'))};
}

bool is_answer(std::string_view frame) {
  return frame.size() > kPayload + kBootp + kMagic && number_at(frame, 12, 2) == ETHERTYPE_IP &&
         number_at(frame, 23, 1) == IPPROTO_UDP && number_at(frame, kPayload - 8, 2) == 67 &&
         frame[kPayload] == 2;
}

}  // namespace

DhcpClient::DhcpClient(const std::string& interface)
    : socket_{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETHERTYPE_IP))} {
  sockaddr_ll place{};
  place.sll_family = AF_PACKET;
  place.sll_protocol = htons(ETHERTYPE_IP);
  place.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (socket_ < 0 || place.sll_ifindex == 0 ||
      ::bind(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
    throw std::runtime_error{"no raw socket on " + interface};
}

DhcpClient::~DhcpClient() { ::close(socket_); }

void DhcpClient::send(const DhcpAsk& ask) {
  const auto bytes = frame(ask.mac, message(ask, ++transaction_));
  if (::send(socket_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error{"no frame could be sent"};
}

std::optional<DhcpAnswer> DhcpClient::read_one() {
  char room[2048];
  const auto got = ::recv(socket_, room, sizeof room, 0);
  const std::string_view bytes{room, got > 0 ? static_cast<std::size_t>(got) : 0};
  if (!is_answer(bytes)) return {};
  const auto text = bytes.substr(kPayload);
  if (number_at(text, 4, 4) != transaction_) {
    ++answers_to_others_;
    return {};
  }
  DhcpAnswer answer{.address = address_at(text, 16), .file = until_zero(text.substr(108, 128))};
  for (auto at = kBootp + kMagic; at + 2 <= text.size() && text[at] != '\xff';) {
    const auto size = number_at(text, at + 1, 1);
    if (at + 2 + size > text.size()) break;
    answer.options[static_cast<int>(number_at(text, at, 1))] = text.substr(at + 2, size);
    at += 2 + size;
  }
  // Some servers end names with a zero.
  if (const auto name = answer.options.find(67); name != answer.options.end())
    answer.file = until_zero(name->second);
  if (const auto kind = answer.options.find(53); kind != answer.options.end())
    answer.kind = kind->second[0];
  return answer;
}

std::optional<DhcpAnswer> DhcpClient::answer_to(const DhcpAsk& ask, std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  send(ask);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd ready{socket_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
    if (auto answer = read_one()) return answer;
  }
}

}  // namespace cupel::testing
