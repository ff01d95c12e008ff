#pragma once
// What a client may change, one function a kind. Each checks everything before it changes anything;
// what it answers on success (a 204 without a body) is put in the vendor's words afterwards.
#include <functional>

#include "rehearsal/bmc/body_reader.h"
#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/resources.h"
#include "rehearsal/bmc/sessions.h"

namespace cupel::rehearsal {

struct LoopbackUri;
struct UpdateRequest;

/// One request that wants to change something, by somebody who may.
struct Change {
  ManagedSystem& machine;
  BmcState& state;
  std::string path;
  json::object body{};
  bool empty = false;  // there was no body at all
  std::function<void(LogLine)> note;
  std::function<void()> restart;
  const UpdateWorld& updates_world;

  // The request as it came, for what is no JSON.
  const ReceivedBody& received;
  /// Brings the image of that update, and then goes on with it.
  std::function<void(const std::string& id, const LoopbackUri& from, UpdateRequest request)>
      fetch{};
  bool chunked = false;
  bool has_condition = false;  // If-Match
  BmcSessions* sessions = nullptr;

  BmcView view() const { return {machine, state}; }
  /// Last part of the path; with `up`, the one before that.
  std::string name(int up = 0) const;
};

/// A way to change something, and where.
struct Route {
  std::string_view method;
  std::string path;  // with * for one name
  HttpResponse (*change)(Change&);
  bool takes_anything = false;  // the body need not be JSON
};

/// All of them for one BMC.
std::vector<Route> routes_of(const BmcView& view);

// The machine.
HttpResponse reset_system(Change& change);
HttpResponse cycle_ac(Change& change);
HttpResponse patch_system(Change& change);
HttpResponse patch_boot_settings(Change& change);
HttpResponse patch_boot_order(Change& change);
HttpResponse patch_secure_boot(Change& change);
HttpResponse patch_bios(Change& change);
HttpResponse reset_bios(Change& change);
HttpResponse create_job(Change& change);
HttpResponse insert_media(Change& change);
HttpResponse eject_media(Change& change);
HttpResponse patch_media(Change& change);

// The BMC.
HttpResponse restart_manager(Change& change);
HttpResponse patch_manager(Change& change);
HttpResponse patch_protocols(Change& change);
HttpResponse patch_session_service(Change& change);
HttpResponse clear_log(Change& change);
HttpResponse collect_dump(Change& change);
HttpResponse clear_dumps(Change& change);
HttpResponse send_test_event(Change& change);
HttpResponse subscribe(Change& change);
HttpResponse unsubscribe(Change& change);
HttpResponse add_account(Change& change);
HttpResponse patch_account(Change& change);
HttpResponse remove_account(Change& change);

// Firmware.
HttpResponse simple_update(Change& change);
HttpResponse upload_form(Change& change);
HttpResponse push_image(Change& change);
HttpResponse start_update(Change& change);
HttpResponse patch_update_service(Change& change);

// What may be wrong with what is asked.
HttpResponse unknown_property(std::string_view name);
HttpResponse wrong_type(std::string_view name);
HttpResponse not_in_list(std::string_view name, std::string_view value);
HttpResponse not_licensed();

}  // namespace cupel::rehearsal
