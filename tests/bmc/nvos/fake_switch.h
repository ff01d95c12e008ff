#pragma once
// A switch's NVUE service for tests: answers that a test writes, over HTTPS. It shares no code with
// the client, and knows no switch: what it says is from the facts that the test names.
#include <deque>

#include "base/base64.h"
#include "bmc/nvos/nvue.h"
#include "tests/bmc/fixture.h"

namespace cupel::bmc {

class NvosSwitch : public ::testing::Test {
 protected:
  struct SwitchReply {
    int status = 200;
    std::string body;
  };

  NvosSwitch() {
    server_.change([this](test::HttpsServer::Options& options) {
      options.last_word = [this](test::Exchanged& now) { answer(now); };
    });
  }

  /// The answers to a request ("GET cluster"), one after the other; the last one stays.
  void on(const std::string& asked, std::vector<SwitchReply> replies) {
    const std::lock_guard lock{mutex_};
    answers_[asked] = {replies.begin(), replies.end()};
  }
  void on(const std::string& asked, std::string body) { on(asked, {{200, std::move(body)}}); }
  /// A revision of this id as the switch writes it, which is applied at once.
  void takes_revisions(const std::string& made = R"({"12": {"state": "pending"}})") {
    on("POST revision", made);
    on("PATCH revision/12", R"({"state": "apply"})");
    on("GET revision/12", R"({"12": {"state": "applied", "transition": {"issue": {}}}})");
    on("PATCH revision/applied", R"({"state": "save"})");
  }
  /// What changed something, with its body: "PATCH cluster?rev=12 {...}".
  std::vector<std::string> changes() {
    const std::lock_guard lock{mutex_};
    return changes_;
  }
  int asked(const std::string& what) {
    const std::lock_guard lock{mutex_};
    return static_cast<int>(std::ranges::count(asked_, what));
  }

  redfish::Peer peer() {
    return {
        .node = "a01/switch1", .endpoint = server_.endpoint(), .trust = trust_, .known = &keys_};
  }
  nvos::Nvue client() { return {transport_, peer(), "admin", password_from(password_)}; }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io_, std::move(task));
  }
  static Deadline soon() { return Deadline::in(60s); }
  static constexpr std::chrono::milliseconds kLook{1};

  asio::io_context io_;
  redfish::Transport transport_{io_.get_executor()};
  RememberedKeys keys_;
  inventory::Trust trust_{};
  std::string password_ = "secret one", right_ = "secret one";
  std::mutex mutex_;
  std::map<std::string, std::deque<SwitchReply>> answers_;
  std::vector<std::string> asked_, changes_;
  test::HttpsServer server_{test::HttpsServer::Options{}};
  nvos::Nvue nvue_ = client();

 private:
  /// On the server's thread.
  void answer(test::Exchanged& now) {
    const std::lock_guard lock{mutex_};
    constexpr std::string_view kRoot = "/nvue_v1/";
    const auto path = now.path.starts_with(kRoot) ? now.path.substr(kRoot.size()) : now.path;
    const auto what = now.method + " " + path;
    asked_.push_back(what);
    const auto right = "Basic " + base64("admin:" + right_);
    if (now.authorization != right) {
      now.status = 401;
      now.answer = R"({"title": "Unauthorized"})";
      return;
    }
    if (now.method != "GET") changes_.push_back(what + " " + now.body);
    auto known = answers_.find(what);
    if (known == answers_.end()) known = answers_.find(what.substr(0, what.find('?')));
    if (known == answers_.end()) {
      now.status = now.method == "PATCH" ? 200 : 404;
      now.answer = now.method == "PATCH" ? now.body : R"({"title": "Not Found"})";
      return;
    }
    now.status = known->second.front().status;
    now.answer = known->second.front().body;
    if (known->second.size() > 1) known->second.pop_front();
  }
};

}  // namespace cupel::bmc
