#pragma once
// All open tickets, and what is answered to whom. Knows no socket. Requests come from several
// threads; the rest is the loop's.
#include "orchestrator/netboot/boot_service.h"
#include "orchestrator/netboot/open_files.h"
#include "orchestrator/netboot/peer_limits.h"
#include "orchestrator/netboot/protocol.h"

namespace cupel::netboot {

class Tickets {
 public:
  using Ptr = std::shared_ptr<OpenTicket>;
  using Log = std::function<void(BootAccess)>;
  static constexpr std::size_t kMost = 20'000;

  /// `log` is called on the server's threads.
  Tickets(asio::any_io_executor executor, const BootServerOptions& options, Log log);

  /// As BootService.
  Result<void> open(const std::string& url, const Ticket& ticket, BootOrder order,
                    BootStage reached);
  void revoke(std::string_view token);
  void revoke_all();
  Ptr find(std::string_view token);

  images::HttpAnswer answer(const images::HttpRequest& request);
  /// A line of the log for a machine that rejects the server's certificate; `why` is OpenSSL's.
  void note_no_handshake(const asio::ip::address& peer, const std::string& why);

 private:
  Ptr find_home(std::string_view token);
  Ptr find_by_dhcp(const std::optional<std::string>& mac, const asio::ip::address& peer);
  const ExpectedMachine* machine_with(const std::string& mac) const;
  void name_who_has_none(const std::optional<std::string>& mac, BootAccess& access) const;
  Result<void> add_by_dhcp(const Ptr& ticket);
  void forget_old();
  images::HttpAnswer content(const images::HttpRequest& request, BootAccess& access);
  std::shared_ptr<images::Pace> rack_pace(const std::string& rack);

  asio::any_io_executor executor_;
  SharedFiles files_;
  PeerLimits limits_;
  const std::vector<ExpectedMachine> machines_;
  const std::uint64_t per_rack_;
  const std::function<std::optional<std::string>(const asio::ip::address&)> neighbour_;
  Log log_;
  std::shared_ptr<images::Pace> uplink_{};
  std::mutex mutex_{};
  std::map<std::string, Ptr, std::less<>> by_token_{}, by_home_{};
  std::map<std::string, Ptr, std::less<>> by_dhcp_{};  // by MAC address, and by address
  std::map<std::string, std::shared_ptr<images::Pace>, std::less<>> racks_{};
};

}  // namespace cupel::netboot
