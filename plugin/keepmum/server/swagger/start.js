"use strict";
// The validator of Swagger UI is a service on the internet: it is switched off, so that this page asks no other host.
SwaggerUIBundle({ url: "/openapi.json", dom_id: "#swagger-ui", validatorUrl: null, deepLinking: true });
