#pragma once
// Names of what is passed by reference or pointer, for headers that look into none of it.

namespace cupel::inventory {

struct Criterion;
struct Inventory;
struct Node;
struct Part;
struct Patience;
struct Pdu;
struct Profile;

}  // namespace cupel::inventory
