#pragma once
// The Redfish service of one virtual rack PDU: a request in, an answer out, on the rack's loop. Who
// may ask, what is there, and what is switched, now or by itself in a while. No sockets:
// bmc/https_server.h. Source: DSP0266 1.15.
#include <map>
#include <string>

#include "rehearsal/bmc/https_server.h"
#include "rehearsal/bmc/login.h"
#include "rehearsal/bmc/sessions.h"
#include "rehearsal/pdu/resources.h"
#include "rehearsal/rack_timer.h"

namespace cupel::rehearsal {

class PduService : public WebService {
 public:
  static constexpr std::size_t kMostSessions = 8;
  static constexpr std::chrono::minutes kSessionTimeout{30};

  /// `name` is the PDU's in the site: "a01/p1". `clock` and `site` must outlive it.
  PduService(asio::any_io_executor executor, const Clock& clock, RackSite& site, std::string name,
             LoginWords login);
  PduService(const PduService&) = delete;
  PduService& operator=(const PduService&) = delete;

  HttpResponse handle(const HttpRequest& request) override;

  /// Outlets stay as they are from now on.
  void stop() { cycles_.clear(); }

 private:
  ResourceTree tree();
  HttpResponse routed(const HttpRequest& request, const std::string& path);
  HttpResponse act(const HttpRequest& request, const std::string& path);
  HttpResponse log_in(const HttpRequest& request);
  HttpResponse control(const PowerOutlet& outlet, const HttpRequest& request);
  void cycle(const std::string& outlet);
  bool accepts(const LoginWords& login) const;
  bool knows(const HttpRequest& request);

  asio::any_io_executor executor_;
  const Clock& clock_;
  RackSite& site_;
  std::string name_;
  LoginWords login_;
  BmcSessions sessions_{kMostSessions, kSessionTimeout};
  std::map<std::string, RackTimer> cycles_;  // of the outlets that come back by themselves
};

}  // namespace cupel::rehearsal
