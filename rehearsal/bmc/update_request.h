#pragma once
// What somebody asks the update service to write, whichever way it came: the image, for what, when,
// and what there is against it. How each way is read: update_changes.cpp.
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/bmc/change.h"
#include "rehearsal/bmc/image.h"

namespace cupel::rehearsal {

struct UpdateRequest {
  ReceivedImage image{};
  std::string file_name{};
  std::vector<std::string> targets{};  // components; empty: whatever the image is for
  std::string apply_time{};
  bool force = false;      // older versions too
  bool transfers = false;  // it is at a URI
};

/// What becomes of an update whose image has come from its URI.
void take_fetched(const Change& change, const std::string& id, UpdateRequest request);

std::vector<Component> components_of(const BmcView& view);

/// URIs in a JSON array become names of components; one of a whole tray becomes all of them. The
/// refusal where one is no such thing, or there are too many.
std::optional<HttpResponse> read_targets(const Change& change, const json::value* reported,
                                         std::vector<std::string>& into);

/// What an image has for the components that are meant. Without targets, nothing for a tray that
/// stands apart.
std::vector<Flash> images_in(const Change& change, const UpdateRequest& request,
                             std::span<const Component> all);

/// What is wrong with the image itself; empty: nothing.
std::string fault_of_image(const Change& change, const UpdateRequest& request,
                           const std::vector<Flash>& images);
/// What the check will have against writing it; empty: nothing.
std::string objection_to(const Change& change, const UpdateRequest& request,
                         const std::vector<Flash>& images, std::span<const Component> all);
/// How the machine's faults let it end.
void meet_its_fate(const Change& change, const UpdateRequest& request, Update& update);

/// Refused because another update runs; nothing where none does.
std::optional<HttpResponse> busy_with_another(const Change& change);
/// Begins, or says why not.
HttpResponse begin_update(Change& change, UpdateRequest request);
HttpResponse accepted(const Change& change, const Update& update);

}  // namespace cupel::rehearsal
