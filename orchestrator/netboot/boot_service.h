#pragma once
// The boot server: what machines without an operating system fetch, ask and report, over HTTP or
// HTTPS. Each boot of a node has a ticket, an URL that nobody can guess and that ends; what a
// machine may do depends on its ticket and on whether it is the one that the inventory expects.
// It knows neither images nor runs: it serves what a ticket was issued for. The protocol is in
// docs/do/netboot.md.
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>

#include "base/task.h"
#include "orchestrator/netboot/neighbour.h"
#include "orchestrator/netboot/ticket.h"

namespace cupel::netboot {

struct BootServerOptions {
  asio::ip::tcp::endpoint endpoint{};  // a port of 0 becomes a number: for tests, since URLs stay
  std::string host{};                  // in URLs; empty: the endpoint's address
  /// PEM, of a certificate that the machines trust; empty: HTTP.
  std::string certificate{}, key{};
  std::string certificate_file{};           // that it was read from, where it was
  std::string folder{};                     // no file outside of it is served
  std::vector<ExpectedMachine> machines{};  // all of the inventory: a swapped pair is named
  int threads = 2;
  std::size_t connections = 4096, connections_per_peer = 64;
  std::uint32_t requests_per_second = 100;  // of one peer, after a burst of four times as many
  std::chrono::seconds head_patience{10}, idle{60};
  /// Bytes per second; 0: no limit. Fair between those who fetch.
  std::uint64_t uplink = 0, per_rack = 0;
  /// The MAC address of a peer; called on the server's threads.
  std::function<std::optional<std::string>(const asio::ip::address&)> neighbour = mac_of_neighbour;
};

/// One request that was answered, or broke off. Holds no token.
struct BootAccess {
  std::string node{};  // empty: no ticket
  std::string peer{}, method{}, file{};
  int status = 0;
  std::uint64_t bytes = 0;
  bool whole = false;
  std::chrono::milliseconds took{};
  std::string note{};  // why firmware that DHCP sent here gets nothing
};

class BootService {
 public:
  using Log = std::function<void(const BootAccess&)>;

  /// Threads of its own; `log` is called on `executor`. Errors: kConflict (the address is taken);
  /// kInvalid (the certificate or its key, the folder).
  static Result<std::unique_ptr<BootService>> start(asio::any_io_executor executor,
                                                    BootServerOptions options, Log log = {});
  BootService(const BootService&) = delete;
  BootService& operator=(const BootService&) = delete;
  /// Cuts every connection; whoever waits in next() gets kCancelled.
  ~BootService();

  /// A ticket that permits nothing yet: for a seed that holds its home URL, and for a journal that
  /// has it before a machine does.
  Ticket draw() const;
  /// From now on the ticket permits this order. `reached`: after a restart of the controller, how
  /// far its journal says that the boot has come. The files are opened now. Errors: kNotFound,
  /// kInvalid (a file outside the folder, a bad name, a program without a `.cmdline` section);
  /// kConflict (the ticket is of another server, is open already, or there are too many; another
  /// node's ticket that is found by DHCP has the same MAC address).
  Result<void> open(const Ticket& ticket, BootOrder order, BootStage reached = BootStage::issued);
  /// draw() and open().
  Result<Ticket> issue(BootOrder order);
  /// As open(), after a restart.
  Result<void> restore(const Ticket& ticket, BootOrder order, BootStage reached) {
    return open(ticket, std::move(order), reached);
  }
  /// Transfers that are under way end, whoever waits in next() gets kCancelled. Unknown: nothing.
  void revoke(const std::string& token);

  /// The ticket's next event, in order. None is lost; of progress, fetches and refusals that nobody
  /// took only the last may be left. One waits at a time. Errors: kTimeout; kNotFound (no such
  /// ticket); kCancelled.
  Task<Result<BootEvent>> next(std::string token, Deadline deadline);

  /// As HttpServer::renew_certificate.
  Result<void> renew_certificate(const std::string& certificate, const std::string& key);

  /// "http://10.0.0.1:8080"
  const std::string& url() const;
  std::uint16_t port() const;

 private:
  struct Impl;
  explicit BootService(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace cupel::netboot
