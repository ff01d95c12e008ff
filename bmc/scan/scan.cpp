#include "bmc/scan/scan.h"

#include <algorithm>
#include <boost/asio/ip/multicast.hpp>
#include <boost/asio/ip/udp.hpp>
#include <set>

#include "base/file.h"
#include "base/for_each_of.h"
#include "base/text.h"
#include "bmc/redfish/document.h"
#include "bmc/redfish/redfish.h"
#include "bmc/scan/ssdp.h"
#include "inventory/read_bmc.h"

namespace cupel::bmc::scan {
namespace {

using asio::ip::udp;

constexpr int kSsdpWait = 2;  // seconds in which services spread their answers
constexpr std::size_t kMostAnswers = 2 * inventory::kMostAddresses;
constexpr std::size_t kLargestOfStrangers = 1u << 20;
constexpr std::size_t kArpLimit = 8u << 20;
constexpr std::size_t kLongestPrefix = 16;  // before a page's first tag

/// Certificates are named, never kept: each is only what it was a moment ago.
class NoKeys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view) override { return std::nullopt; }
  void pin(std::string_view, std::string_view) override {}
};

struct Scanner {
  Options& options;
  redfish::Transport transport;
  NoKeys keys{};
  std::set<std::string> reported{};  // hosts that SSDP reported
};

inventory::Endpoint endpoint(const Scanner& scanner, const std::string& host) {
  return {host, scanner.options.port};
}

/// The one that was just shown, and no other.
inventory::Trust trust_in(const FoundBmc& bmc) {
  return {inventory::Trust::Kind::pinned, bmc.certificate};
}

/// What a BMC that starts, or a web server that may be one, answers at the root; empty: no BMC.
std::string sign_of_a_bmc(const redfish::Response& response) {
  const int status = response.status;
  const bool page = status == 200 && response.body.find('<') < kLongestPrefix;
  if (page) return "a web page at /redfish/v1";
  const bool busy = status >= 500 || status == 429 || (status >= 300 && status < 400);
  return busy ? "HTTP " + std::to_string(status) + " at /redfish/v1" : std::string{};
}

/// The service root, which everybody may read (DSP0266, 13.3.1).
Task<Result<void>> ask_root(Scanner& scanner, FoundBmc& bmc, Deadline deadline) {
  redfish::Peer peer{.node = "scan of " + bmc.address,
                     .endpoint = endpoint(scanner, bmc.address),
                     .trust = trust_in(bmc),
                     .known = &scanner.keys};
  redfish::Request request{.path = "/redfish/v1/"};
  auto answer = co_await scanner.transport.send(std::move(peer), std::move(request), deadline);
  if (!answer) {
    if (answer.error().code != Code::kCancelled) bmc.unclear = "no answer at /redfish/v1";
    if (answer.error().code == Code::kMalformed) bmc.unclear = "a redirect that leads elsewhere";
    co_return std::move(answer).error();
  }
  const auto& response = *answer;
  bmc.unclear = sign_of_a_bmc(response);
  if (response.status != 200 || !bmc.unclear.empty())
    co_return Error{Code::kNotFound, "HTTP " + std::to_string(response.status)};
  CO_TRY(const auto root, redfish::document_of(response.body));
  if (!root.is_object() || find(root, "RedfishVersion") == nullptr)
    co_return Error{Code::kMalformed, "no service root"};
  read_root(root, bmc);
  bmc.ways.emplace_back("redfish");
  co_return ok();
}

Task<void> log_in(Scanner& scanner, FoundBmc& bmc) {
  const auto& proof = scanner.options.login->proof;
  const auto trust = proof ? proof(bmc) : trust_in(bmc);
  if (!trust) {
    bmc.note = "not logged in: its certificate is not known";
    co_return;
  }
  inventory::BmcAccess access{.endpoint = endpoint(scanner, bmc.address),
                              .user = scanner.options.login->user,
                              .password = {},
                              .trust = *trust};
  const auto one = redfish::open(scanner.transport, "scan of " + bmc.address, std::move(access),
                                 scanner.options.login->password, scanner.keys);
  const auto identity = co_await one->facts.identity(Deadline::in(scanner.options.login_patience));
  co_await one->log_out();
  if (!identity) {
    bmc.note = printable(shortened(identity.error().what, 200));
    co_return;
  }
  const auto& reported = *identity;
  if (!reported.vendor.empty()) bmc.vendor = reported.vendor;
  if (!reported.model.empty()) bmc.model = reported.model;
  if (!reported.serial.empty()) bmc.serial = reported.serial;
  if (bmc.mac.empty() && !reported.bmc_macs.empty()) bmc.mac = reported.bmc_macs.front();
}

/// We have just talked to it: a neighbour stands in the kernel's table.
void add_mac(FoundBmc& bmc) {
  const auto table = read_file("/proc/net/arp", kArpLimit);
  if (!table || !bmc.mac.empty()) return;
  const auto macs = parse_arp(*table);
  const auto mac = macs.find(bmc.address);
  if (mac != macs.end()) bmc.mac = mac->second;
}

Task<Result<FoundBmc>> look_at(Scanner& scanner, std::string host) {
  FoundBmc bmc{.address = host};
  bmc.port = scanner.options.port;
  bmc.ipmi_port = scanner.options.ipmi_port;
  const auto shown = co_await scanner.transport.presented_certificate(
      endpoint(scanner, host), Deadline::in(scanner.options.each));
  if (shown) {
    bmc.certificate = *shown;
    const auto root = co_await ask_root(scanner, bmc, Deadline::in(scanner.options.each));
    // Something else than a BMC serves HTTPS there; its certificate is nobody's business.
    if (!root) bmc.certificate.clear();
  }
  if (scanner.options.ping) {
    const auto there = co_await scanner.options.ping(host, Deadline::in(scanner.options.each));
    if (there) {
      bmc.ways.emplace_back("ipmi");
      if (bmc.vendor.empty()) bmc.vendor = *there;
    }
  }
  if (bmc.ways.empty() && bmc.unclear.empty()) co_return Error{Code::kNotFound, "no BMC"};
  if (!bmc.unclear.empty()) bmc.note = "starting or unknown: " + bmc.unclear;
  if (scanner.reported.contains(host)) bmc.ways.emplace_back("ssdp");
  add_mac(bmc);
  const bool redfish = !bmc.ways.empty() && bmc.ways.front() == "redfish";
  if (scanner.options.login && redfish) co_await log_in(scanner, bmc);
  if (scanner.options.found) scanner.options.found(bmc);
  co_return bmc;
}

Task<Result<std::vector<SsdpAnswer>>> listen(udp::socket& socket, std::vector<SsdpAnswer>& heard) {
  std::string buffer(kMostSsdpBytes + 1, '\0');
  for (std::size_t i = 0; i < kMostAnswers; ++i) {
    udp::endpoint from;
    const auto [failure, size] = co_await socket.async_receive_from(
        asio::buffer(buffer), from, asio::as_tuple(asio::use_awaitable));
    if (failure) break;
    auto answer = parse_ssdp(std::string_view{buffer}.substr(0, size));
    if (!answer) continue;
    // Where it came from, not where it says it is: an answer may not send us anywhere.
    answer->host = from.address().to_string();
    if (std::ranges::find(heard, *answer) == heard.end()) heard.push_back(std::move(*answer));
  }
  co_return heard;
}

/// Our own address on the way to `host`: a connected UDP socket has one, and sends nothing.
std::optional<asio::ip::address_v4> own_address(asio::any_io_executor executor,
                                                const std::string& host) {
  boost::system::error_code failure;
  const auto there = asio::ip::make_address_v4(host, failure);
  udp::socket probe{executor};
  if (!failure) probe.open(udp::v4(), failure);
  if (!failure) probe.connect({there, kSsdpPort}, failure);
  if (failure) return std::nullopt;
  const auto here = probe.local_endpoint(failure);
  return failure ? std::nullopt : std::optional{here.address().to_v4()};
}

/// Asks everybody once on the network in which `host` is, and listens for as long as they may take.
Task<std::vector<SsdpAnswer>> search_ssdp(std::string host) {
  const auto executor = co_await asio::this_coro::executor;
  std::vector<SsdpAnswer> heard;
  udp::socket socket{executor};
  boost::system::error_code failure;
  const auto here = own_address(executor, host);
  if (here) socket.open(udp::v4(), failure);
  if (!here || failure) co_return heard;
  socket.set_option(asio::ip::multicast::hops{2}, failure);
  socket.set_option(asio::ip::multicast::outbound_interface{*here}, failure);
  const udp::endpoint group{asio::ip::make_address(kSsdpGroup), kSsdpPort};
  const auto question = ssdp_question(kSsdpWait);
  co_await socket.async_send_to(asio::buffer(question), group, asio::as_tuple(asio::use_awaitable));
  const auto until = Deadline::in(std::chrono::seconds{kSsdpWait + 1});
  [[maybe_unused]] const auto over = co_await with_deadline(until, listen(socket, heard));
  co_return heard;
}

}  // namespace

Task<Result<std::vector<FoundBmc>>> scan(Options options) {
  if (options.hosts.size() > inventory::kMostAddresses)
    co_return Error{Code::kInvalid, "more than " + std::to_string(inventory::kMostAddresses) +
                                        " addresses in one scan"};
  const auto executor = co_await asio::this_coro::executor;
  // Whoever answers is a stranger, and a service root is small.
  const redfish::Limits limits{.response_bytes = kLargestOfStrangers};
  Scanner scanner{options, redfish::Transport{executor, limits}};
  if (options.ssdp && !options.hosts.empty()) {
    const auto answers = co_await search_ssdp(options.hosts.front());
    for (const auto& answer : answers) scanner.reported.insert(answer.host);
  }
  const auto each = [&scanner](const std::string& host) { return look_at(scanner, host); };
  const auto looked = co_await for_each_of<FoundBmc>(options.hosts, options.at_once, each);
  const bool stopped = co_await cancelled();
  if (stopped) co_return Error{Code::kCancelled, "stopped"};
  std::vector<FoundBmc> all;
  for (const auto& one : looked) {
    if (one) all.push_back(*one);
  }
  co_return all;
}

}  // namespace cupel::bmc::scan
