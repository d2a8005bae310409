#define USE_MODULE
#include "main.inc"
#include "point_to_point.inc"
#include "indices.inc"
#include "collectives.inc"
#include "operators.inc"
#include "objects.inc"
#include "callbacks.inc"
