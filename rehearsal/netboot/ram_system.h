#pragma once
// What a virtual machine runs once its firmware has booted from an URL of a boot server: it speaks
// the boot protocol (docs/do/netboot.md), writes the image onto its virtual disk, and restarts from
// it. Nothing of an image is kept but its digest. Not the operating system that comes of it: that
// is host.h, which reads its seed like any other.
#include <boost/asio/cancellation_signal.hpp>
#include <boost/json.hpp>
#include <string>

#include "rehearsal/http_client.h"
#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {

class RamSystem {
 public:
  /// Host keys, "ssh-ed25519 AAAA...".
  struct Keys {
    std::string ram{};        // its own
    std::string installed{};  // of the system that it installs
  };
  RamSystem(asio::any_io_executor executor, Host& host, Keys keys);
  ~RamSystem() { stop(); }
  RamSystem(const RamSystem&) = delete;
  RamSystem& operator=(const RamSystem&) = delete;

  /// Whatever it does ends, soon.
  void stop();

  /// Where the boot server is, as ram.efi says it in its command line, or ram.iso in its
  /// ticket.json. Nothing where neither says it.
  static std::optional<std::string> ticket_in(std::string_view image);

 private:
  struct Boot;
  bool boots(const std::string& image);
  Task<void> run(std::shared_ptr<Boot> boot, std::string image);
  Task<Result<void>> act(Boot& boot, std::string image);
  Task<Result<std::string>> find_ticket(Boot& boot, std::string image);
  Task<Result<HttpReply>> ask(Boot& boot, std::string method, std::string name, std::string body,
                              HttpSink sink = {});
  Task<Result<void>> post(Boot& boot, std::string name, boost::json::object body);
  Task<Result<void>> deploy(Boot& boot, boost::json::object order);
  void install(Boot& boot);
  bool has(FaultKind kind) const;
  bool loses_power();
  Task<Result<std::string>> write(Boot& boot, boost::json::object image);
  Task<Result<void>> fetch_seed(Boot& boot);
  boost::json::object hello(const std::string& ticket_from) const;
  boost::json::object identity() const;

  asio::any_io_executor executor_;
  Host& host_;
  const Keys keys_;
  std::shared_ptr<Boot> boot_{};  // of now
  int power_losses_ = 0;          // while an image was written
};

}  // namespace cupel::rehearsal
