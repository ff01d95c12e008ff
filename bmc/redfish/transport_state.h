#pragma once
// What a transport knows and does, for its own files only: transport.cpp sends requests, stream.cpp
// listens. Not an interface: transport.h is.
#include <map>
#include <memory>

#include "bmc/redfish/curl_loop.h"
#include "bmc/redfish/transport.h"

namespace cupel::bmc::redfish {

/// What is known of one endpoint, for as long as the process lives.
struct Host {
  std::string node{};
  PinCheck check{};
  int generation = 0;  // of the pin
  int undecided = 0;   // transfers that may still keep their connection
};

class Sending;  // upload.cpp

/// How it counts for the BMC's health.
Outcome outcome_of(const Result<Response>& answer, CURLcode how);

struct Transport::Impl : std::enable_shared_from_this<Transport::Impl> {
  Impl(asio::any_io_executor on, Limits bounds, Memory* memory)
      : executor{std::move(on)},
        limits{bounds},
        all_bmc_limits{memory},
        loop{executor, limits.connections, limits.requests_per_bmc},
        streams{executor, limits.connections, 1},
        uploads{limits.uploads} {}

  Host& host(const inventory::Endpoint& endpoint) {
    auto& found = hosts[endpoint];
    if (!found) found = std::make_unique<Host>();
    return *found;
  }

  /// Connections are kept by address: another node's pin would not be asked on a kept one.
  Result<void> claim(const Peer& peer);
  Task<Result<Response>> exchange(const Peer& peer, Host& host, const Request& request,
                                  std::string path, Deadline deadline);
  Task<Result<Response>> once(const Peer& peer, Host& host, const Request& request,
                              const std::string& path, bool fresh, bool& was_kept,
                              Deadline deadline);
  Task<Result<Response>> send_file(const Peer& peer, Host& host, const Request& request,
                                   Sending& sending, Deadline deadline);
  static Task<void> wait_until_done(Transfer& transfer, Deadline deadline,
                                    std::chrono::milliseconds grace);
  Result<void> trust(const Peer& peer, Host& host, Transfer& transfer, bool may_resume);
  void prepare(Transfer& transfer, const Request& request, bool fresh, Deadline deadline) const;
  Result<Response> concluded(const Peer& peer, Host& host, Transfer& transfer);

  asio::any_io_executor executor;
  Limits limits;
  AllBmcLimits all_bmc_limits;
  std::map<std::string, Sessions> sessions;
  std::map<inventory::Endpoint, std::unique_ptr<Host>> hosts;
  CurlLoop loop;
  CurlLoop streams;  // their connections do not count among those for requests
  Semaphore uploads;
};

}  // namespace cupel::bmc::redfish
