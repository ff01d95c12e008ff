#pragma once
// The API as a whole: its sockets, its desks, its page, and how it hears of the controller that
// works in the same process. Threads of its own; the controller's loop waits for none of them.
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orchestrator/api/listener.h"
#include "orchestrator/api/login_limits.h"
#include "orchestrator/api/static_files.h"
#include "orchestrator/controller/front.h"

namespace cupel::api {

struct ServiceOptions {
  std::filesystem::path state{};
  std::filesystem::path programs{};
  std::string version{};
  std::string settings{};             // service.yaml; empty: none
  std::string inventory{};            // instead of that of the settings
  std::vector<std::string> listen{};  // beside those of the settings
  std::filesystem::path socket{};     // empty: none
  /// Sockets that systemd has passed. One of TCP replaces the addresses of the settings.
  std::vector<int> passed{};
  std::span<const StaticFile> page{};
  std::string_view page_policy{};  // its Content-Security-Policy
  ListenerLimits limits{};
  /// Before and after files are read again on SIGHUP, whatever comes of it. On the controller's
  /// thread; empty: nothing is called.
  std::function<void()> reloading{}, reloaded{};
  std::size_t streams = 600;        // open at a time; a further one gets 503
  std::size_t streams_of_one = 60;  // of one person or program
  std::size_t heavy_of_one = 16;    // requests that take long, of the 64 that may wait
  /// Between two signs of life of a stream, and between two looks at its login.
  std::chrono::milliseconds heartbeat{15'000};
  LoginLimits::Now login_clock = LoginLimits::Clock::now;  // of refused logins
};

class Service {
 public:
  /// Reads the settings and the inventory, and opens the sockets; answers nothing yet. Errors:
  /// kInvalid, with every problem of the files; kConflict: an address is taken; kStorage.
  static Result<std::unique_ptr<Service>> open(ServiceOptions options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  void start();
  /// "https://127.0.0.1:8443", "/run/cupel/cupel.sock".
  const std::vector<std::string>& addresses() const;
  /// Open ones, of all sockets.
  std::size_t connections() const;
  /// Of the certificate that it made for itself; empty where the site has one.
  const std::string& fingerprint() const;

  /// Settings, inventory, certificates and keys once more; all of it or nothing. Errors: kInvalid.
  Result<void> reload();

  /// What the controller in this process is to be given: it wakes streams, keeps what steps wait
  /// for, reloads on SIGHUP. Lives as long as the service.
  controller::Front& front();

  /// That the controller's loop and the desks still turn; what a watchdog wants to know.
  bool is_alive();

 private:
  struct Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::api
