// The service root, and the service around events.
#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

constexpr const char* kRoot = "/redfish/v1";

void add_events(ResourceTree& tree, const BmcView& view) {
  const std::string path = "/redfish/v1/EventService";
  for (const auto& [id, subscription] : view.state.subscriptions) {
    auto one = resource(path + "/Subscriptions/" + id, "#EventDestination.v1_9_0.EventDestination",
                        id, "Event Subscription");
    one["Destination"] = subscription.destination;
    one["Context"] = subscription.context;
    one["Protocol"] = subscription.protocol;
    one["SubscriptionType"] = subscription.type;
    tree[path + "/Subscriptions/" + id] = std::move(one);
  }
  add_collection(tree, path + "/Subscriptions",
                 "#EventDestinationCollection.EventDestinationCollection", "Subscriptions");
  auto service =
      resource(path, "#EventService.v1_5_0.EventService", "EventService", "Event Service");
  service["ServiceEnabled"] = true;
  service["EventFormatTypes"] = json::array{"Event"};
  if (!view.layout().sse.empty()) service["ServerSentEventUri"] = view.layout().sse;
  service["Subscriptions"] = link(path + "/Subscriptions");
  service["Actions"] = {{"#EventService.SubmitTestEvent",
                         {{"target", path + "/Actions/EventService.SubmitTestEvent"}}}};
  service["Status"] = healthy();
  tree[path] = std::move(service);
}

json::object features(const BmcView& view) {
  const auto& behavior = view.behavior().connection;
  return {{"ExpandQuery",
           {{"ExpandAll", behavior.expand},
            {"Levels", behavior.expand},
            {"Links", behavior.expand},
            {"NoLinks", behavior.expand},
            {"MaxLevels", behavior.expand_levels}}},
          {"FilterQuery", false},
          {"SelectQuery", false},
          {"OnlyMemberQuery", false},
          {"ExcerptQuery", false}};
}

}  // namespace

void add_services(ResourceTree& tree, const BmcView& view) {
  const auto& names = view.behavior().names;
  add_updates(tree, view);
  add_events(tree, view);
  auto root = resource(kRoot, "#ServiceRoot.v1_13_0.ServiceRoot", "RootService", "Root Service");
  root["RedfishVersion"] = names.redfish;
  if (!names.product.empty()) root["Product"] = names.product;
  if (!names.root_vendor.empty()) root["Vendor"] = names.root_vendor;
  if (!names.oem.empty()) {
    json::object own;
    if (!names.oem_root.empty()) own["@odata.type"] = names.oem_root;
    root["Oem"] = {{std::string{names.oem}, std::move(own)}};
  }
  root["UUID"] = view.hardware().uuid;
  root["ProtocolFeaturesSupported"] = features(view);
  for (const auto* child : {"Systems", "Chassis", "Managers", "SessionService", "UpdateService",
                            "AccountService", "EventService", "Registries", "Fabrics"})
    root[child] = link(std::string{kRoot} + "/" + child);
  root["Tasks"] = link("/redfish/v1/TaskService");
  root["Links"] = {{"Sessions", link("/redfish/v1/SessionService/Sessions")}};
  tree[kRoot] = std::move(root);
}

}  // namespace cupel::rehearsal
