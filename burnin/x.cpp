#include "burnin/stage.h"
