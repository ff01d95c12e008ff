#include "burnin/agent/burn/nccl_ras.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"

namespace cupel::burn {
namespace {

using RasClock = std::chrono::steady_clock;
constexpr std::size_t kMostRead = 65536, kMostKept = 16384, kLongestRasLine = 240;
constexpr std::size_t kMostFound = 8;
/// RAS waits so long for other nodes, in seconds, before it answers without them.
constexpr std::string_view kRequest = "CLIENT PROTOCOL 2\nTIMEOUT 2\nVERBOSE STATUS\n";
constexpr std::string_view kGreeting = "SERVER PROTOCOL ";

Failure ras_failure(const RasPlace& place, const std::string& why) {
  return {
      .code = "nccl",
      .message = "NCCL's RAS at " + place.address + ":" + std::to_string(place.port) + ": " + why};
}

/// Until the socket is ready for `events`; false: the time was over first.
bool wait_ready(int socket, short events, RasClock::time_point until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - RasClock::now()).count();
    if (left <= 0) return false;
    pollfd ready{.fd = socket, .events = events, .revents = 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

Outcome<agent::Descriptor> connect_to(const RasPlace& place, RasClock::time_point until) {
  agent::Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return ras_failure(place, std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(place.port);
  ::inet_pton(AF_INET, place.address.c_str(), &address.sin_addr);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.number(), where, sizeof address) == 0) return socket;
  if (errno != EINPROGRESS) return ras_failure(place, std::strerror(errno));
  if (!wait_ready(socket.number(), POLLOUT, until)) return ras_failure(place, "no connection");
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return ras_failure(place, std::strerror(error));
  return socket;
}

/// All that comes until the other end closes, kMostRead is reached, or the time is over.
std::string read_answer(int socket, RasClock::time_point until) {
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < kMostRead && wait_ready(socket, POLLIN, until)) {
    const auto count = ::recv(socket, piece.data(), piece.size(), 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

/// Lines of printable ASCII, each bounded, all together kMostKept.
std::string only_text(std::string_view answer) {
  std::string kept;
  for (const auto line : lines(answer)) {
    const auto whole = line.substr(0, kLongestRasLine);
    if (kept.size() + whole.size() + 1 > kMostKept) break;
    for (const char c : whole) kept += c >= ' ' && c <= '~' ? c : '?';
    kept += '\n';
  }
  return kept;
}

/// The lines under a heading that "===" underlines, without the blank ones before them.
std::vector<std::string_view> section(std::string_view text, std::string_view heading) {
  std::vector<std::string_view> found;
  const auto all = lines(text);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].starts_with(heading) || !all[i + 1].starts_with("===")) continue;
    for (auto at = i + 2; at < all.size(); ++at) {
      const bool next_begins = at + 1 < all.size() && all[at + 1].starts_with("===");
      if (next_begins) break;
      if (!trimmed(all[at]).empty()) found.push_back(all[at]);
    }
    break;
  }
  return found;
}

/// A row of the table: numbers, then its status and its errors. Empty: it runs well, or is no row.
std::string not_running(std::string_view row) {
  constexpr std::size_t kColumns = 8, kRanksPerComm = 4, kRanksInGroup = 5;
  const auto columns = words(row);
  if (columns.size() != kColumns || !number<int>(columns.front())) return {};
  const auto &status = columns[kColumns - 2], &errors = columns[kColumns - 1];
  if (status == "RUNNING" && errors == "OK") return {};
  return "group " + std::string{columns.front()} + ": " + std::string{columns[kRanksInGroup]} +
         " ranks (" + std::string{columns[kRanksPerComm]} + " a communicator), status " +
         std::string{status} + ", errors " + std::string{errors};
}

}  // namespace

Outcome<RasPlace> ras_place(const char* setting) {
  RasPlace place;
  if (setting == nullptr || *setting == '\0') return place;
  const std::string_view text{setting};
  const auto colon = text.rfind(':');
  const auto port = colon == text.npos ? std::optional<std::uint16_t>{}
                                       : number<std::uint16_t>(text.substr(colon + 1));
  const auto host = std::string{text.substr(0, colon)};
  in_addr address{};
  const bool is_loopback =
      host == "localhost" || (::inet_pton(AF_INET, host.c_str(), &address) == 1 &&
                              (ntohl(address.s_addr) >> 24U) == IN_LOOPBACKNET);
  if (!port || *port == 0 || !is_loopback)
    return Failure{.code = "usage",
                   .message = "NCCL_RAS_ADDR is no port of this node's loopback: RAS is not asked"};
  place.port = *port;
  if (host != "localhost") place.address = host;
  return place;
}

Outcome<std::string> ask_ras(const RasPlace& place, std::chrono::milliseconds within) {
  const auto until = RasClock::now() + within;
  TRY(const auto socket, connect_to(place, until));
  const auto sent = ::send(socket.number(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(kRequest.size()))
    return ras_failure(place, "it did not take the request");
  const auto text = only_text(read_answer(socket.number(), until));
  if (text.empty()) return ras_failure(place, "it did not answer in time");
  if (!text.starts_with(kGreeting)) return ras_failure(place, "what answers there is not RAS");
  return text;
}

RasFindings ras_findings(std::string_view text) {
  RasFindings found;
  for (const auto row : section(text, "Communicators"))
    if (auto words = not_running(row); !words.empty() && found.communicators.size() < kMostFound)
      found.communicators.push_back(std::move(words));
  for (const auto line : section(text, "Errors"))
    if (found.errors.size() < kMostFound) found.errors.emplace_back(trimmed(line));
  return found;
}

agent::JsonLine ras_line(const Outcome<std::string>& answer) {
  agent::JsonLine line{"ras"};
  if (!answer) {
    line.add("message", answer.error().message);
    return line;
  }
  const auto found = ras_findings(*answer);
  line.array("communicators");
  for (const auto& each : found.communicators) line.item(each);
  line.end();
  line.array("errors");
  for (const auto& each : found.errors) line.item(each);
  line.end();
  line.add("text", *answer);
  return line;
}

agent::JsonLine ask_own_ras() {
  constexpr std::chrono::seconds kWithin{4};  // a hang's end waits ten at most
  const auto place = ras_place(std::getenv("NCCL_RAS_ADDR"));
  if (!place) return ras_line(place.error());
  return ras_line(ask_ras(*place, kWithin));
}

}  // namespace cupel::burn
