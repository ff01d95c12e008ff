#pragma once
// Whom the service tells what people should know of, as the site's settings say: hooks and
// mailboxes, what each takes, and when. Secrets are named here, and never kept.
#include <set>

#include "inventory/problem.h"
#include "inventory/rack_scope.h"
#include "inventory/secret_ref.h"
#include "orchestrator/api/schedule.h"

namespace cupel::api {

/// What raises a notice. The first four and `end` are those of controller/notify.h.
inline constexpr std::string_view kNoticeKinds[] = {"overdue",  "halt", "action",
                                                    "approval", "end",  "schedule"};

/// Of each day, in local time; from 22:00 to 07:00 goes over midnight.
struct QuietHours {
  std::chrono::minutes from{}, to{};  // since midnight
  friend bool operator==(const QuietHours&, const QuietHours&) = default;
};

struct NoticeHook {
  enum class Kind { webhook, slack, mail, otlp } kind = Kind::webhook;
  std::string name{};
  std::string url{};  // of a webhook or an OTLP receiver; "smtps://mail.example.com:465"
  std::optional<inventory::SecretRef> secret_url{};  // instead, where it is one
  std::optional<inventory::SecretRef> secret{};      // bearer token; mail: password
  std::string ca{};                                  // PEM file; empty: the system's authorities
  std::string user{}, from{};                        // of mail
  std::vector<std::string> to{};
  std::set<std::string, std::less<>> on{};      // of kNoticeKinds
  std::set<std::string, std::less<>> urgent{};  // that are sent in quiet hours too
  inventory::RackScope racks = inventory::RackScope::all();
  std::chrono::seconds group{30};  // what comes within it is sent as one
  std::optional<QuietHours> quiet{};
  std::optional<std::chrono::seconds> metrics{};  // OTLP: how often it gets what /metrics counts

  bool is_urgent(std::string_view what) const { return urgent.contains(what); }
  /// An OTLP receiver gets whole runs, each as a batch of its own.
  bool takes_runs() const { return kind == Kind::otlp; }
  friend bool operator==(const NoticeHook&, const NoticeHook&) = default;
};

std::string_view to_string(NoticeHook::Kind kind);  // the key of service.yaml: "webhook"

inline constexpr std::size_t kMostHooks = 16;

/// The list under `notices`. Every error becomes a problem.
std::vector<NoticeHook> notice_hooks_of(inventory::YamlFields& above, const std::string& file,
                                        std::vector<inventory::Problem>& problems);

/// What is wrong with an address to send to, never quoting it: it may be a secret. Without TLS only
/// to a loopback address. Nothing: it may be used.
std::optional<std::string> fault_in_hook_url(NoticeHook::Kind kind, std::string_view url);
/// The host of an address as it is written, without brackets; empty where it has none, or a user.
std::string hook_host(std::string_view url);
/// Whether the host is a literal loopback address.
bool is_loopback_url(std::string_view url);

bool is_quiet(const NoticeHook& hook, engine::WallTime now);
/// When the quiet hours at `now` end.
engine::WallTime quiet_until(const NoticeHook& hook, engine::WallTime now);

}  // namespace cupel::api
