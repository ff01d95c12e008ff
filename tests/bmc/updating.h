#pragma once
// A BMC whose update service answers as a test says, and what it was sent.
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/bmc/acting.h"
#include "tests/support/image_file.h"

namespace cupel::bmc {

inline constexpr const char* kUpdates = "/redfish/v1/UpdateService";
inline constexpr const char* kTask = "/redfish/v1/TaskService/Tasks/7";
inline constexpr const char* kUpload = "/redfish/v1/UpdateService/upload";
inline constexpr const char* kPull = "https://10.0.0.1/images/secret-name/bios.bin";

class Updating : public Acting {
 protected:
  void SetUp() override {
    Acting::SetUp();
    server.change([this](auto& options) {
      options.last_word = [this](test::Exchanged& one) {
        const std::lock_guard lock{mutex};
        if (one.method != "GET" && one.path.find("Sessions") == std::string::npos)
          sent.push_back(one);
      };
    });
  }
  void offer(const json::object& more) {
    json::object service{{"@odata.id", kUpdates}, {"ServiceEnabled", true}};
    for (const auto& entry : more) service[entry.key()] = entry.value();
    server.set(kUpdates, service);
  }
  void answer(const std::string& path, int status = 202, std::string body = {},
              std::map<std::string, std::string> headers = {{"Location", kTask}}) {
    server.misbehave({.method = "POST",
                      .path = path,
                      .status = status,
                      .body = std::move(body),
                      .headers = std::move(headers)});
  }
  template <class Verb>
  auto with_bmc(Verb verb) {
    const auto bmc = open();
    auto done = run(verb(*bmc));
    run(bmc->log_out());
    return done;
  }
  Result<UpdateTicket> push(UpdateOrder order) {
    return with_bmc([&](Bmc& bmc) { return bmc.update.push(order, soon()); });
  }
  /// "POST /path", of all but GETs and sessions.
  std::vector<std::string> lines() {
    const std::lock_guard lock{mutex};
    std::vector<std::string> all;
    for (const auto& one : sent) all.push_back(one.method + " " + one.path);
    return all;
  }
  std::string body(std::size_t index) {
    const std::lock_guard lock{mutex};
    return index < sent.size() ? sent[index].body : "";
  }
  static std::string field(const std::string& name, const std::string& type,
                           const std::string& text) {
    return "name=\"" + name + "\"\r\n" + (type.empty() ? "" : "Content-Type: " + type + "\r\n") +
           "\r\n" + text + "\r\n--";
  }

  std::mutex mutex;
  std::vector<test::Exchanged> sent;
  test::ImageFile image{"an image"};
};

}  // namespace cupel::bmc
