# Sourced by the scripts of package.json that need the dependencies: without them Node ends with a stack trace.
if [ ! -e node_modules/.modules.yaml ]; then
  echo 'This checkout is not set up. Run "npm run setup" once, then this command again.' >&2
  exit 1
fi
